// SPDX-License-Identifier: Apache-2.0
#include "controller/disruption/capacity_guard.h"

#include <fmt/format.h>

#include <algorithm>

#include "apis/reasons.h"
#include "controller/disruption/rollout_annotation.h"
#include "controller/fleet/gpu_users.h"
#include "controller/fleet/node_facts.h"

namespace berth {

Capacity gpu_capacity(const Node& node) {
  Capacity capacity;
  each_gpu_resource(node.allocatable, [&](const Text& resource, const Quantity& quantity) {
    capacity[resource.view()] = quantity.as_whole().value_or(0);
  });
  return capacity;
}

CapacityGuard::CapacityGuard(const Snapshot& snapshot, const SlotLedger& ledger,
                             const CapacityGuardSpec& spec)
    : snapshot_(snapshot), ledger_(ledger), spec_(spec) {
  for (const auto& node : snapshot.cluster.nodes()) {
    if (!counts(*node)) continue;
    each_gpu_resource(node->allocatable, [&](const Text& resource, const Quantity& quantity) {
      remaining_[resource.view()] += quantity.as_whole().value_or(0);
    });
  }
}

// A slot is as good as a cordon: the patch may be on its way.
bool CapacityGuard::counts(const Node& node) const {
  return in_service(node) && ledger_.find(node.meta.name) == nullptr;
}

std::optional<Cause> CapacityGuard::refuse(const Node& node) const {
  if (!counts(node)) return std::nullopt;  // it offers nothing as it is
  const Capacity offered = gpu_capacity(node);
  if (auto refusal = refuse_minimum(offered)) return refusal;
  if (spec_.protect_last_provider) return refuse_last_provider(offered);
  return std::nullopt;
}

std::optional<Cause> CapacityGuard::refuse_minimum(const Capacity& offered) const {
  for (const auto& [resource, minimum] : spec_.min_available) {
    auto lost = offered.find(resource);
    if (lost == offered.end()) continue;
    const std::int64_t left = remaining_.at(resource) - lost->second;
    if (left < minimum)
      return Cause{reasons::kCapacityGuard,
                   fmt::format("{} would fall to {} in service, below "
                               "spec.capacityGuard.minAvailable of {}; add or return nodes that "
                               "offer it, or lower the minimum",
                               resource, left, minimum)};
  }
  return std::nullopt;
}

std::optional<Cause> CapacityGuard::refuse_last_provider(const Capacity& offered) const {
  for (const auto& [resource, count] : offered) {
    if (remaining_.at(resource) > count) continue;
    if (std::ranges::find(spec_.retire, resource) != spec_.retire.end()) continue;
    std::vector<std::string> dependants;
    for (const Pod* pod : snapshot_.cluster.view<GpuUsers>().of(resource))
      if (!pod->terminating() &&
          pod->meta.namespace_ != std::string_view(snapshot_.settings.agents_namespace))
        dependants.push_back(fmt::format("{}/{}", pod->meta.namespace_.view(), pod->meta.name));
    if (dependants.empty()) continue;
    const std::string& first = *std::ranges::min_element(dependants);
    return Cause{reasons::kLastProvider,
                 fmt::format("no other node in service offers {}, and {} pod{} hold{} it ({}{}); "
                             "wait until they end, add capacity, or allow the resource to "
                             "disappear: spec.capacityGuard.retire: [{}]",
                             resource, dependants.size(), dependants.size() == 1 ? "" : "s",
                             dependants.size() == 1 ? "s" : "", first,
                             dependants.size() == 1 ? "" : ", …", resource)};
  }
  return std::nullopt;
}

void CapacityGuard::take(const Node& node) {
  if (!counts(node)) return;
  for (const auto& [resource, count] : gpu_capacity(node)) remaining_[resource] -= count;
}

}  // namespace berth
