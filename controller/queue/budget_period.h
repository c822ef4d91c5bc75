// SPDX-License-Identifier: Apache-2.0
// BudgetPeriod's days, weeks and months, as the calendar has them: they begin at midnight on the
// clocks of a time zone, and so are an hour longer or shorter where those are put back or forward.
#pragma once

#include "apis/gpu_queue.h"
#include "controller/core/time_zones.h"

namespace berth::queue {

struct Period {
  Time from{};
  Time until{};  // where the next begins
  bool operator==(const Period&) const = default;
};

// The one that `now` is in. Weeks begin on Monday.
Period period_at(BudgetPeriod period, const TimeZone& zone, Time now);

// The queue's; by the clocks of UTC if there is no such zone.
Period period_at(const BudgetSpec& budget, const TimeZones& zones, Time now);

}  // namespace berth::queue
