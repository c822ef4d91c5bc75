// SPDX-License-Identifier: Apache-2.0
// Requeue: how berth takes back an admitted Job, so that it waits in its queue again with its old
// age. All its pods end, on any node, and none of them counts as a failure.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apis/base/time.h"
#include "controller/core/cluster_state.h"
#include "controller/core/plan.h"
#include "controller/core/snapshot.h"
#include "controller/queue/facts/facts_index.h"

namespace berth::queue {

// Retry interval for pods that may not be evicted yet, or that should be gone.
inline constexpr Duration kLookAgain = std::chrono::seconds(10);

// Suspends the Job. Its pods stay charged until they have ended. `preempted`, if not empty, is the
// text of its annotation: when, and for which workload.
Write suspend_job(const berth::Job& job, std::string reason, std::string_view preempted = "");

// evict_pod() uses the Eviction API. delete_pod() ignores budgets. ask_to_evict() is a dry run.
Write evict_pod(const berth::Pod& pod, std::string reason);
Write delete_pod(const berth::Pod& pod, std::string reason);
Ask ask_to_evict(const berth::Pod& pod);
// Returns null if the API server was not asked, or was asked too long ago.
const Answer* eviction_answer(const Snapshot& snapshot, const berth::Pod& pod);

// Returns the Job that controls the pod, if its queue has admitted it and would admit it again: the
// Job has its record, and that queue admits. A hold annotation or another queue's label, added
// since, decides only where the Job waits afterwards. Null: the pod is taken back on its own.
const berth::Job* requeued_with(const ClusterState& cluster, const berth::Pod& pod);

// Whether the queue exists and admits.
bool admits(const FactsIndex& facts, const std::string& queue);
// Does the same for a workload that is a Job. Null: it stays as it is.
const berth::Job* requeued_of(const ClusterState& cluster, const Workload& workload);

// Returns the Job's pods that are on a node and have not ended, by name.
std::vector<const berth::Pod*> bound_pods(const ClusterState& cluster, const berth::Job& job);

// A budget that would have too few healthy pods if all the pods left together, although each could
// leave alone.
struct Overdraft {
  const PodDisruptionBudget* budget = nullptr;
  std::int64_t left = 0;
};
std::optional<Overdraft> find_overdraft(const ClusterState& cluster,
                                        const std::vector<const berth::Pod*>& pods);

}  // namespace berth::queue
