// SPDX-License-Identifier: Apache-2.0
// Yielding: the workload that an entry of yields.h is about, and whether its taker still exists.
#pragma once

#include <string>

#include "controller/core/cluster_state.h"
#include "controller/queue/facts/facts_index.h"
#include "controller/queue/record/yields.h"

namespace berth::queue {

// Returns the uid of the Job, or of the controller that re-creates the pods. Empty: there is none.
std::string remaker_uid(const ClusterState& cluster, const Workload& workload);

// Whether the taker still waits or runs.
bool is_there(const FactsIndex& facts, const Taker& taker);

}  // namespace berth::queue
