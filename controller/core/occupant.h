// SPDX-License-Identifier: Apache-2.0
// Occupant: what a pod holds on its node and what its eviction would cost, in packed form. To order
// the nodes of a fleet, berth reads twenty thousand pods, which are far apart in memory. The
// occupants of a node are adjacent.
#pragma once

#include <cstdint>
#include <limits>
#include <string_view>

#include "apis/kinds/core.h"

namespace berth {

struct Occupant {
  // Start of the work that an eviction would lose, in whole seconds since the epoch.
  static constexpr std::int64_t kNoWork = std::numeric_limits<std::int64_t>::max();
  enum class Group : std::uint8_t { kNone, kPodGroup, kJob };  // what else ends when the pod ends

  const Pod* pod = nullptr;  // bound and unfinished
  Text namespace_;
  Text group;     // the pod group's name, or the Job's uid
  Text resource;  // the first NVIDIA resource that it requests
  std::int64_t count = 0;
  std::int64_t work_from_s = kNoWork;
  std::int64_t gpus = 1;  // over all NVIDIA resources, at least 1
  std::int32_t priority = 0;
  Group group_kind = Group::kNone;
  bool stays = false;      // a pod of a DaemonSet or a mirror pod: it belongs to the node
  bool uses_gpu = false;   // the result of uses_gpu()
  bool asks_more = false;  // requests NVIDIA resources other than `resource`, too
};
Occupant occupant_of(const Pod& pod);

// Calls on_demand(resource, count) for each NVIDIA resource that the pod requests.
template <class OnDemand>
void each_demand(const Occupant& occupant, OnDemand&& on_demand) {
  if (occupant.resource.empty()) return;
  if (!occupant.asks_more) return on_demand(occupant.resource, occupant.count);
  for (const auto& [resource, quantity] : gpus_in(occupant.pod->shape->requests))
    on_demand(resource, quantity.rounded_up());
}

}  // namespace berth
