// SPDX-License-Identifier: Apache-2.0
// job_fate: of a Job or a gang that a queue has let go, why it will be taken back, and when; and
// that a gang was.
#pragma once

#include <string>
#include <vector>

#include "controller/core/snapshot.h"
#include "controller/queue/workload.h"

namespace berth {

// A clause for each reason; none: it stays as far as anybody can tell.
std::vector<std::string> job_fate(const Snapshot& snapshot, const queue::Workload& workload);

}  // namespace berth
