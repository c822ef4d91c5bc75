// SPDX-License-Identifier: Apache-2.0
// explain_workload: why a workload has no pods, or too few: refused, scaled to zero, or suspended.
// If all its pods are refused, there is no pod that a user could ask about.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "controller/core/snapshot.h"
#include "controller/dump/clues.h"
#include "controller/explain/explain_queue.h"
#include "controller/explain/explanation.h"

namespace berth {

struct WorkloadName {
  std::string kind;  // Deployment, ReplicaSet, StatefulSet, Job
  std::string namespace_;
  std::string name;
};

// Whether the object exists, as far as is known.
bool exists(const ClusterState& cluster, const Clues& clues, const WorkloadName& workload);
// Its own pods; for a Deployment those of its ReplicaSets.
std::vector<const Pod*> pods_of(const ClusterState& cluster, const Clues& clues,
                                const WorkloadName& workload);
// The API server's message that refuses its pods; empty: none is known.
std::string refusal_of(const Clues& clues, const WorkloadName& workload);

Explanation explain_workload(const Snapshot& snapshot, const WorkloadName& workload,
                             const Clues& clues);
// For several workloads: computes the queues once.
Explanation explain_workload(const Snapshot& snapshot, const WorkloadName& workload,
                             const Clues& clues, const QueueWhy& queues);

}  // namespace berth
