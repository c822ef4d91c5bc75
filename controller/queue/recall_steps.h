// SPDX-License-Identifier: Apache-2.0
// RecallSteps: how a gang that no Job makes is taken back. First the API server is asked about each
// pod that has to go; once it would let all of them go, the mark is written; then they are evicted.
#pragma once

#include <string>
#include <vector>

#include "controller/core/plan.h"
#include "controller/core/snapshot.h"
#include "controller/queue/workload.h"

namespace berth::queue {

struct RecallOrder {
  std::string why;
  std::vector<const berth::Pod*> round;  // what has to go, and goes already; not empty
  std::vector<const berth::Pod*> asked;  // of those, whoever would not go anyway
  bool never_ready = false;              // it is left out for a while then
};
void plan_recall(const Snapshot& snapshot, const Workload& workload, RecallOrder order, Plan& plan);

// Event GangStays, of a gang that `stays` although it was due for `why`; nothing if that is empty.
void tell_gang_stays(const Snapshot& snapshot, const Workload& workload, const std::string& why,
                     const std::string& stays, Plan& plan);

// Whether the gang's mark stands and its pods are there. Those are evicted, each by itself: whoever
// is kept by a budget now is tried again.
bool plan_recalled(const Snapshot& snapshot, const Workload& workload, Plan& plan);

}  // namespace berth::queue
