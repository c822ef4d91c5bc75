// SPDX-License-Identifier: Apache-2.0
// What workloads hold now, in whole-GPU equivalents, whatever resources their quotas count.
#pragma once

#include <vector>

#include "controller/queue/budget/gpu_hours.h"
#include "controller/queue/facts/facts_index.h"

namespace berth::queue {

// Returns a holding for each pool of each workload that is charged for GPUs, in no particular
// order. A workload that was created without review counts from its creation.
std::vector<Holding> gpu_holdings(const FactsIndex& index);

}  // namespace berth::queue
