// SPDX-License-Identifier: Apache-2.0
// TextQueues: a plan's part about queues, for users.
#pragma once

#include <string>

#include "controller/preview/queue_outlook.h"

namespace berth {

std::string print_text(const QueueOutlook& outlook);

}  // namespace berth
