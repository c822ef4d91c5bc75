// SPDX-License-Identifier: Apache-2.0
// NodeUse: how a node's GPUs are used at one moment, in millionths of a GPU. Each part of each GPU
// counts exactly once, so that the parts sum up to the whole.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "controller/core/snapshot.h"

namespace berth::cost {

struct HeldUse {
  const Pod* pod = nullptr;
  std::int64_t used = 0;        // held and at work
  std::int64_t idle = 0;        // held and not at work
  std::int64_t unmeasured = 0;  // held and not measured
  // The highest values among the GPUs that only this pod holds.
  std::int64_t memory_mib = 0;       // in use; 0: not measured
  std::optional<std::int64_t> peak;  // percent at work; absent: not measured
};

struct NodeUse {
  std::int64_t whole = 0;  // all GPUs of the node
  std::vector<HeldUse> held;
  std::int64_t free = 0;       // a pod could get it
  std::int64_t lost = 0;       // the node takes no pods: cordoned, repartitioned, not ready
  std::int64_t fragments = 0;  // no resource that the node offers has it
};

// If several pods share a GPU, its activity is split evenly between them: no counter measures it by
// pod.
NodeUse use_of(const Snapshot& snapshot, const Node& node);

}  // namespace berth::cost
