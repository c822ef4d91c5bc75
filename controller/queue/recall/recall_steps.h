// SPDX-License-Identifier: Apache-2.0
// RecallSteps: how berth takes back a gang without a Job. First it asks the API server about each
// pod that has to go. If all evictions are allowed, it writes the mark. Then it evicts the pods.
#pragma once

#include <string>
#include <vector>

#include "controller/core/plan.h"
#include "controller/core/snapshot.h"
#include "controller/queue/facts/workload.h"

namespace berth::queue {

struct RecallOrder {
  std::string why;
  // Pods to evict, and those that terminate already; not empty.
  std::vector<const berth::Pod*> round;
  std::vector<const berth::Pod*> asked;  // of these, the pods that do not terminate already
  bool never_ready = false;              // if so, the gang is then left out for a while
};
void plan_recall(const Snapshot& snapshot, const Workload& workload, RecallOrder order, Plan& plan);

// Reports event GangStays if the gang can't be taken back although `why` requires it. `stays` is
// the reason; if it is empty, there is no event.
void tell_gang_stays(const Snapshot& snapshot, const Workload& workload, const std::string& why,
                     const std::string& stays, Plan& plan);

// Returns whether the gang's mark exists and its pods still exist. It plans to evict each pod on
// its own. A pod that a budget keeps is tried again.
bool plan_recalled(const Snapshot& snapshot, const Workload& workload, Plan& plan);

}  // namespace berth::queue
