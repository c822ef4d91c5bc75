// SPDX-License-Identifier: Apache-2.0
// NodeUse: what a node's GPUs are to whoever pays for them at one moment, in millionths of a GPU.
// Each part of each GPU is exactly one of them, so that the parts are the whole.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "controller/core/snapshot.h"

namespace berth::cost {

struct HeldUse {
  const Pod* pod = nullptr;
  std::int64_t used = 0;        // at work
  std::int64_t idle = 0;        // held, and not at work
  std::int64_t unmeasured = 0;  // held, and nobody knows
  // Of the one of its GPUs that has most of it, of those that are its alone.
  std::int64_t memory_mib = 0;       // in use; 0: not measured
  std::optional<std::int64_t> peak;  // percent at work; absent: not measured
};

struct NodeUse {
  std::int64_t whole = 0;  // all of it
  std::vector<HeldUse> held;
  std::int64_t free = 0;       // a pod could have it
  std::int64_t lost = 0;       // the node takes no pods: cordoned, repartitioned, not ready
  std::int64_t fragments = 0;  // no resource that the node offers has it
};

// A GPU that several pods share is at work for each of them alike, as nobody measures it by pod.
NodeUse use_of(const Snapshot& snapshot, const Node& node);

}  // namespace berth::cost
