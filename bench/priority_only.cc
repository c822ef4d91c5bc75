// SPDX-License-Identifier: Apache-2.0
#include "bench/priority_only.h"

#include <algorithm>
#include <tuple>

namespace berth {
namespace {

using Pods = std::vector<const BoundPod*>;

// By what kube-scheduler compares nodes: the highest priority that goes, the sum of them, how many,
// and how long the first of the highest has run.
auto cost_of(const Pods& victims) {
  std::int32_t highest = -1;
  std::int64_t sum = 0, first = 0;
  for (const BoundPod* pod : victims) {
    sum += pod->priority;
    if (pod->priority > highest || (pod->priority == highest && pod->since < first))
      highest = pod->priority, first = pod->since;
  }
  return std::tuple(highest, sum, victims.size(), -first);
}

// All of lower priority, but for those who can stay: the more important are asked first.
std::optional<Pods> victims_on(const Pods& pods, std::int32_t priority, std::int64_t gpus,
                               std::int64_t free) {
  Pods lower;
  for (const BoundPod* pod : pods)
    if (pod->priority < priority) lower.push_back(pod), free += pod->gpus;
  if (free < gpus) return std::nullopt;
  std::ranges::sort(lower, {}, [](const BoundPod* pod) {
    return std::tuple(-pod->priority, pod->since, pod->workload);
  });
  std::erase_if(lower, [&](const BoundPod* pod) {
    const bool stays = free - pod->gpus >= gpus;
    if (stays) free -= pod->gpus;
    return stays;
  });
  return lower;
}

}  // namespace

std::optional<Nomination> nominate(std::int32_t priority, std::int64_t pods, std::int64_t gpus,
                                   std::map<std::string, std::int64_t> free,
                                   const std::vector<BoundPod>& bound) {
  Nomination out;
  std::map<std::string, Pods> on;
  for (const BoundPod& pod : bound) on[pod.node].push_back(&pod);
  for (; pods > 0; --pods) {
    std::string best;
    Pods victims;
    for (const auto& [node, left] : free) {
      const std::optional<Pods> here = victims_on(on[node], priority, gpus, left);
      if (!here || (!best.empty() && cost_of(victims) <= cost_of(*here))) continue;
      best = node, victims = *here;
    }
    if (best.empty()) return std::nullopt;
    for (const BoundPod* victim : victims) out.victims.insert(victim->workload);
    for (auto& [node, here] : on)
      std::erase_if(here, [&](const BoundPod* pod) {
        const bool goes = out.victims.contains(pod->workload);
        if (goes) free[node] += pod->gpus;
        return goes;
      });
    free[best] -= gpus;
    out.nodes.push_back(best);
  }
  return out;
}

}  // namespace berth
