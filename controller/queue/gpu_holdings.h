// SPDX-License-Identifier: Apache-2.0
// What workloads hold now in whole-GPU equivalents, whatever their quotas count in.
#pragma once

#include <vector>

#include "controller/queue/facts_index.h"
#include "controller/queue/gpu_hours.h"

namespace berth::queue {

// One for each workload that is charged for GPUs, and pool, in no particular order. What came past
// the webhook counts from its creation.
std::vector<Holding> gpu_holdings(const FactsIndex& index);

}  // namespace berth::queue
