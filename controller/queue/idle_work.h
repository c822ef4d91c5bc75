// SPDX-License-Identifier: Apache-2.0
// IdleWork: running workloads none of whose pods uses its GPUs, and that have been told that these
// may be taken back (observe/idle_pods.h). A workload goes whole or not at all.
#pragma once

#include <cstdint>
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

// What a Job says that policy Always took back: nobody lets it in before that is gone.
inline constexpr char kHeldAsIdle[] = "its GPUs were idle; without this annotation it queues again";
// Workloads that gave up idle GPUs, as long as the one is there that took them, or until somebody
// lets a held Job queue again.
std::int64_t count_reclaimed(const Snapshot& snapshot);

// Whether it displaces nobody, as idle GPUs were taken from it for one that is there (yielding.h).
bool gives_way(const Snapshot& snapshot, const Workload& workload);

}  // namespace berth::queue
