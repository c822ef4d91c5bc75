// SPDX-License-Identifier: Apache-2.0
// QueueStillness: whether the statuses of GPUQueues are right once berth is at rest.
#pragma once

#include <string>

#include "apis/base/time.h"
#include "controller/core/settings.h"
#include "controller/sim/world/store.h"

namespace berth::explore {

// The first queue whose status differs from what a berth would write that has just read the whole
// store; empty: none.
std::string unstill_queues(const sim::Store& store, const Settings& settings, Time wall);

}  // namespace berth::explore
