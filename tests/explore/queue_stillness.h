// SPDX-License-Identifier: Apache-2.0
// QueueStillness: whether GPUQueues tell what is so, once berth is at rest.
#pragma once

#include <string>

#include "apis/base/time.h"
#include "controller/core/settings.h"
#include "controller/sim/world/store.h"

namespace berth::explore {

// The first queue whose status is not the one that a berth would write which has just read the
// whole store; empty: there is none.
std::string unstill_queues(const sim::Store& store, const Settings& settings, Time wall);

}  // namespace berth::explore
