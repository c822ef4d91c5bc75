// SPDX-License-Identifier: Apache-2.0
// IdleWork: running workloads whose GPUs are all idle, and whose pods carry the notice that berth
// may take the GPUs back (observe/idle_pods.h). berth takes back a workload as a whole or not at
// all.
#pragma once

#include <cstdint>
#include <vector>

#include "controller/core/snapshot.h"
#include "controller/queue/cycle/preemption.h"

namespace berth::queue {

// Returns idle workloads by name. It does not check whether the API server would allow the
// evictions.
std::vector<IdleWork> find_idle_work(const Snapshot& snapshot, const GPUClusterPolicy& policy);

// Whether the policy takes idle GPUs back for waiting workloads (OnPressure), and which ones it may
// take.
bool takes_idle(const Snapshot& snapshot);
std::vector<IdleWork> idle_to_take(const Snapshot& snapshot);

// Whether a workload that is being taken back for idle GPUs is still idle. If its GPUs are no
// longer measured, it is not.
bool is_idle_still(const Snapshot& snapshot, const Workload& workload);

// The hold annotation on a Job that policy Always took back. The Job waits until a user removes it.
inline constexpr char kHeldAsIdle[] = "its GPUs were idle; without this annotation it queues again";
// Returns how many workloads gave up idle GPUs and still wait for that reason: the workload that
// took the GPUs still exists, or no user has released the held Job.
std::int64_t count_reclaimed(const Snapshot& snapshot);

// Whether the workload may displace no other, because berth took idle GPUs from it for a workload
// that still exists (yielding.h).
bool gives_way(const Snapshot& snapshot, const Workload& workload);

}  // namespace berth::queue
