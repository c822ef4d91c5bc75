// SPDX-License-Identifier: Apache-2.0
#include "controller/explain/memory_why.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "apis/base/names.h"
#include "apis/base/printable.h"
#include "apis/base/reasons.h"
#include "controller/admission/pool_choice.h"
#include "controller/advise/memory_on_node.h"
#include "controller/fleet/node_facts.h"
#include "controller/fleet/pools.h"

namespace berth {
namespace {

const StringMap kUnlabelled;

// GPU memory of the pod's request on this node; nullopt if a resource's memory is unknown.
std::optional<std::int64_t> room_on(const Node& node, const Pod& pod) {
  std::optional<std::int64_t> most;
  for (const auto& [resource, count] : gpus_in(pod.shape->requests)) {
    const auto usable = advise::usable_on(node, resource.view(), count.rounded_up());
    if (!usable) return std::nullopt;
    most = std::max(most.value_or(0), *usable);
  }
  return most;
}

// The smallest resource with enough memory that nodes offer to the pod's namespace.
advise::Share least_for(const ClusterState& cluster, const Pod& pod, std::int64_t bytes) {
  const GPUClusterPolicy* policy = find_policy(cluster);
  const Namespace* of = cluster.namespaces().find(pod.meta.namespace_);
  const StringMap& labels = of == nullptr ? kUnlabelled : of->meta.labels;
  advise::Share least;
  for (const auto& node : cluster.nodes()) {
    const PoolSpec* pool = policy == nullptr ? nullptr : pool_of(*policy, *node);
    for (const auto& [resource, count] : gpus_in(node->allocatable)) {
      if (policy != nullptr && !may_have_alone(*policy, pool, resource.view(), labels)) continue;
      least = advise::smaller(least, advise::fewest_on(*node, resource.view(), bytes));
    }
  }
  return least;
}

bool offers_all(const Node& node, const Pod& pod) {
  for (const auto& [resource, count] : gpus_in(pod.shape->requests))
    if (node.allocatable.get(resource) < count) return false;
  return true;
}

std::optional<std::int64_t> required_by(const Pod& pod) {
  const Text* required = pod.meta.annotations.find(names::kRequiredGpuMemoryAnnotation);
  return required == nullptr ? std::nullopt : advise::required_memory(required->view());
}

std::string describe_lack(const ClusterState& cluster, const Pod& pod, std::int64_t bytes,
                          std::int64_t room) {
  return fmt::format(
      "needs {} of GPU memory, and what it asks for has {} for it there; {}",
      printable(pod.meta.annotations.get(names::kRequiredGpuMemoryAnnotation).view()),
      advise::in_gib(room), advise::ask_instead(least_for(cluster, pod, bytes)));
}

}  // namespace

void note_memory(const Snapshot& snapshot, const Pod& pod, const std::vector<const Node*>& nodes,
                 Explanation& out) {
  const std::optional<std::int64_t> bytes = required_by(pod);
  if (!bytes) return;
  std::map<std::int64_t, std::vector<std::string>> too_small;  // by the memory that they have
  for (const Node* node : nodes)
    if (const auto room = room_on(*node, pod); room && *room < *bytes)
      too_small[*room].push_back(node->meta.name);
  for (auto& [room, names] : too_small)
    out.add("memory", describe_lack(snapshot.cluster, pod, *bytes, room),
            reasons::kGpuMemoryTooSmall, std::move(names));
}

std::string memory_lacking(const ClusterState& cluster, const Pod& pod) {
  const std::optional<std::int64_t> bytes = required_by(pod);
  if (!bytes) return {};
  std::optional<std::int64_t> most;
  for (const auto& node : cluster.nodes()) {
    if (!offers_gpus(*node) || !offers_all(*node, pod)) continue;
    const std::optional<std::int64_t> room = room_on(*node, pod);
    if (!room || *room >= *bytes) return {};
    most = std::max(most.value_or(0), *room);
  }
  return most ? describe_lack(cluster, pod, *bytes, *most) : std::string();
}

}  // namespace berth
