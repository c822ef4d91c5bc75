// SPDX-License-Identifier: Apache-2.0
// Requeue: how a Job that a queue has let go is taken back, so that it waits there again with its
// age. All its pods end, wherever they are, and none of them counts as a failure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "controller/core/cluster_state.h"
#include "controller/core/plan.h"
#include "controller/core/snapshot.h"
#include "controller/queue/facts_index.h"

namespace berth::queue {

// Its pods end and are counted until they have; no failure is.
// `preempted`, if any, is for its annotation: when, and for whom.
Write suspend_job(const berth::Job& job, std::string reason, std::string_view preempted = "");

// The pod goes by the Eviction API; past it; and the dry run.
Write evict_pod(const berth::Pod& pod, std::string reason);
Write delete_pod(const berth::Pod& pod, std::string reason);
Ask ask_to_evict(const berth::Pod& pod);
// Null if the API server was not asked, or too long ago.
const Answer* eviction_answer(const Snapshot& snapshot, const berth::Pod& pod);

// The Job that controls the pod, if a queue has let it go and would let it go again: it has its
// record, and the queue that admitted it admits. What is written on it since, the annotation that
// holds it or another queue's label, says where it waits afterwards. Null: the pod goes by itself.
const berth::Job* requeued_with(const ClusterState& cluster, const berth::Pod& pod);

// Whether the queue is there and admits.
bool admits(const FactsIndex& facts, const std::string& queue);
// Likewise of a workload that is a Job. Null: it stays as it is.
const berth::Job* requeued_of(const ClusterState& cluster, const Workload& workload);

// The Job's pods that are on a node and have not ended, by name.
std::vector<const berth::Pod*> bound_pods(const ClusterState& cluster, const berth::Job& job);

// A budget that would be left with less than it keeps if the pods went together, though each of
// them could go alone.
struct Overdraft {
  const PodDisruptionBudget* budget = nullptr;
  std::int64_t left = 0;
};
std::optional<Overdraft> find_overdraft(const ClusterState& cluster,
                                        const std::vector<const berth::Pod*>& pods);

}  // namespace berth::queue
