// SPDX-License-Identifier: Apache-2.0
// job_fate: why and when a queue will requeue an admitted Job or gang, and that it has requeued a
// gang.
#pragma once

#include <string>
#include <vector>

#include "controller/core/snapshot.h"
#include "controller/queue/facts/workload.h"

namespace berth {

// One clause for each reason; empty: it stays, as far as is known.
std::vector<std::string> job_fate(const Snapshot& snapshot, const queue::Workload& workload);

}  // namespace berth
