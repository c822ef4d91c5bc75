// SPDX-License-Identifier: Apache-2.0
// The queues' reconciler: a pure function from a snapshot to a plan. This version decides and
// tells; it starts nothing.
#pragma once

#include <string_view>

#include "controller/core/plan.h"
#include "controller/core/snapshot.h"

namespace berth {

// One key for all queues: cohorts that share nodes are decided in one cycle.
inline constexpr std::string_view kQueuesKey = "queues";

// The status of every GPUQueue.
Plan reconcile_queues(const Snapshot& snapshot);

}  // namespace berth
