// SPDX-License-Identifier: Apache-2.0
// BudgetPeriod's days, weeks and months by the calendar of a time zone. They begin at midnight,
// local time. So a period with a clock change is an hour longer or shorter.
#pragma once

#include "apis/kinds/gpu_queue.h"
#include "controller/core/time_zones.h"

namespace berth::queue {

struct Period {
  Time from{};
  Time until{};  // the start of the next period
  bool operator==(const Period&) const = default;
};

// Returns the period that contains `now`. Weeks begin on Monday.
Period period_at(BudgetPeriod period, const TimeZone& zone, Time now);

// Returns the period of the queue's budget. It uses UTC if the time zone does not exist.
Period period_at(const BudgetSpec& budget, const TimeZones& zones, Time now);

}  // namespace berth::queue
