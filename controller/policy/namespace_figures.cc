// SPDX-License-Identifier: Apache-2.0
#include "controller/policy/namespace_figures.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "controller/fleet/node_facts.h"

namespace berth {
namespace {

using Place = std::pair<Text, Text>;  // namespace and resource
using Held = std::map<Place, std::int64_t>;

Held held_by_namespace(const ClusterState& cluster) {
  Held held;
  for (const auto& node : cluster.nodes()) {
    if (!has_gpus(*node)) continue;
    for (const Occupant& occupant : cluster.occupants_of(node->meta.name))
      each_demand(occupant, [&](const Text& resource, std::int64_t count) {
        held[{occupant.namespace_, resource}] += count;
      });
  }
  return held;
}

// Adds up the smallest entries into one per resource.
Held bounded(const Held& held) {
  if (held.size() <= kMostNamespaceSeries) return held;
  std::vector<std::pair<Place, std::int64_t>> most(held.begin(), held.end());
  std::ranges::stable_sort(most, std::ranges::greater(),
                           [](const auto& one) { return one.second; });
  Held out;
  for (std::size_t i = 0; i < most.size(); ++i) {
    const auto& [by, count] = most[i];
    out[{i < kMostNamespaceSeries ? by.first : Text(kOtherNamespaces), by.second}] += count;
  }
  return out;
}

}  // namespace

Figures namespace_figures(const ClusterState& cluster) {
  Figure allocated{"berth_namespace_allocated_gpus",
                   "NVIDIA's resources that a namespace's bound pods hold."};
  for (const auto& [by, count] : bounded(held_by_namespace(cluster)))
    allocated.add({{"namespace", by.first.str()}, {"resource", by.second.str()}},
                  static_cast<double>(count));
  if (allocated.samples.empty()) return {};
  return {std::move(allocated)};
}

}  // namespace berth
