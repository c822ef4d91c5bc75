// SPDX-License-Identifier: Apache-2.0
// Occupant: what a pod holds of its node and what its leaving would cost, packed. An order over a
// fleet weighs twenty thousand pods, which are far apart in memory; the occupants of a node stand
// in a row.
#pragma once

#include <cstdint>
#include <limits>
#include <string_view>

#include "apis/core.h"

namespace berth {

struct Occupant {
  // When the work began that an eviction would lose; whole seconds since the epoch.
  static constexpr std::int64_t kNoWork = std::numeric_limits<std::int64_t>::max();
  enum class Group : std::uint8_t { kNone, kPodGroup, kJob };  // what ends with the pod

  const Pod* pod = nullptr;  // bound and unfinished
  Text namespace_;
  Text group;     // the pod group's name, or the Job's uid
  Text resource;  // the first of NVIDIA's that it asks for
  std::int64_t count = 0;
  std::int64_t work_from_s = kNoWork;
  std::int64_t gpus = 1;  // of all of NVIDIA's resources, at least 1
  std::int32_t priority = 0;
  Group group_kind = Group::kNone;
  bool stays = false;      // a DaemonSet's or a mirror pod: it belongs to the node
  bool uses_gpu = false;   // as uses_gpu() tells
  bool asks_more = false;  // for further resources of NVIDIA's than `resource`
};
Occupant occupant_of(const Pod& pod);

// Calls on_demand(resource, count) for each of NVIDIA's resources that the pod asks for.
template <class OnDemand>
void each_demand(const Occupant& occupant, OnDemand&& on_demand) {
  if (occupant.resource.empty()) return;
  if (!occupant.asks_more) return on_demand(occupant.resource, occupant.count);
  for (const auto& [resource, quantity] : gpus_in(occupant.pod->shape->requests))
    on_demand(resource, quantity.rounded_up());
}

}  // namespace berth
