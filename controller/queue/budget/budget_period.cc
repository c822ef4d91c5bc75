// SPDX-License-Identifier: Apache-2.0
#include "controller/queue/budget/budget_period.h"

namespace berth::queue {

using namespace std::chrono;

Period period_at(BudgetPeriod period, const TimeZone& zone, Time now) {
  const local_days today = floor<days>(zone.to_local(now));
  local_days from = today, until = today + days(1);
  if (period == BudgetPeriod::kWeek) {
    from = today - (weekday(today) - Monday);
    until = from + days(7);
  } else if (period == BudgetPeriod::kMonth) {
    const year_month_day date(today);
    from = local_days(date.year() / date.month() / 1);
    until = local_days(date.year() / date.month() / 1 + months(1));
  }
  return {zone.to_time(from), zone.to_time(until)};
}

Period period_at(const BudgetSpec& budget, const TimeZones& zones, Time now) {
  const TimeZone* zone = zones.find(budget.time_zone);
  return period_at(budget.period, zone != nullptr ? *zone : *utc_only().find("UTC"), now);
}

}  // namespace berth::queue
