// SPDX-License-Identifier: Apache-2.0
// The queues' part of a plan, for people.
#pragma once

#include <string>

#include "controller/preview/queue_outlook.h"

namespace berth {

std::string print_text(const QueueOutlook& outlook);

}  // namespace berth
