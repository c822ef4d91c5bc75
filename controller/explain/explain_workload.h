// SPDX-License-Identifier: Apache-2.0
// explain_workload: why what makes pods has none, or too few: refused, scaled to nothing,
// suspended. Whoever meets a refusal this way has no pod to ask about.
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

// Whether there is such an object, as far as is known.
bool exists(const ClusterState& cluster, const Clues& clues, const WorkloadName& workload);
// Its own pods, and a Deployment's by its ReplicaSets.
std::vector<const Pod*> pods_of(const ClusterState& cluster, const Clues& clues,
                                const WorkloadName& workload);
// The words with which its pods are refused; empty: they are not, as far as is known.
std::string refusal_of(const Clues& clues, const WorkloadName& workload);

Explanation explain_workload(const Snapshot& snapshot, const WorkloadName& workload,
                             const Clues& clues);
// For many: the queues are looked at once.
Explanation explain_workload(const Snapshot& snapshot, const WorkloadName& workload,
                             const Clues& clues, const QueueWhy& queues);

}  // namespace berth
