// SPDX-License-Identifier: Apache-2.0
// What keeps a GPUQueue from being acted on as it is written: its own fields, or those of its
// cohort's other queues.
#pragma once

#include <map>
#include <string>

#include "apis/gpu_queue.h"
#include "controller/core/cause.h"

namespace berth::queue {

using QueuesByName = std::map<std::string, const GPUQueue*, std::less<>>;

// By name, those that are to stand still until a person has changed something. The others go on.
std::map<std::string, Cause, std::less<>> find_troubles(const QueuesByName& queues);

}  // namespace berth::queue
