// SPDX-License-Identifier: Apache-2.0
// IdleWork: running workloads none of whose pods uses its GPUs, and that have been told that these
// may be taken back (observe/idle_pods.h). A workload goes whole or not at all.
#pragma once

#include <vector>

#include "controller/core/snapshot.h"
#include "controller/queue/preemption.h"

namespace berth::queue {

// By name. Whether the API server would let them go is not asked here.
std::vector<IdleWork> find_idle_work(const Snapshot& snapshot, const GPUClusterPolicy& policy);

// Whether the policy takes idle GPUs back for whoever waits, and which.
bool takes_idle(const Snapshot& snapshot);
std::vector<IdleWork> idle_to_take(const Snapshot& snapshot);

// Whether what is taken back so is idle still. What is no longer measured is not.
bool is_idle_still(const Snapshot& snapshot, const Workload& workload);

// Whether it displaces nobody, as idle GPUs were taken from it for one that is there (yielding.h).
bool gives_way(const Snapshot& snapshot, const Workload& workload);

}  // namespace berth::queue
