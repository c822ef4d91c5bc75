// SPDX-License-Identifier: Apache-2.0
// Yielding: whose work a note of yields.h is about, and whether it still stands.
#pragma once

#include <string>

#include "controller/core/cluster_state.h"
#include "controller/queue/facts/facts_index.h"
#include "controller/queue/record/yields.h"

namespace berth::queue {

// Empty: nobody makes it anew.
std::string remaker_uid(const ClusterState& cluster, const Workload& workload);

// Whether the taker still waits or runs.
bool is_there(const FactsIndex& facts, const Taker& taker);

}  // namespace berth::queue
