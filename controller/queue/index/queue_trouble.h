// SPDX-License-Identifier: Apache-2.0
// QueueTrouble: why berth can't act on a GPUQueue as it is written: because of its own fields, or
// those of other queues in its cohort.
#pragma once

#include <map>
#include <string>

#include "apis/kinds/gpu_queue.h"
#include "controller/core/cause.h"

namespace berth::queue {

using QueuesByName = std::map<std::string, const GPUQueue*, std::less<>>;

// Returns by name the queues that admit nothing until a user changes a spec. The other queues are
// not affected.
std::map<std::string, Cause, std::less<>> find_troubles(const QueuesByName& queues);

}  // namespace berth::queue
