// SPDX-License-Identifier: Apache-2.0
// JsonQueues: a plan's part about queues, for programs: docs/plan-json.md, field `queues`.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "controller/preview/queue_outlook.h"

namespace berth {

nlohmann::ordered_json encode_queues(const QueueOutlook& outlook);

}  // namespace berth
