// SPDX-License-Identifier: Apache-2.0
// Recurrence: a window that opens by a cron schedule on the clocks of a time zone and stays open
// for a while. Where clocks skip the hour of an opening it opens as they skip it; where they show
// that hour twice it opens the first time, once.
#pragma once

#include <chrono>
#include <optional>
#include <vector>

#include "apis/cron.h"
#include "apis/time.h"
#include "controller/core/time_zones.h"

namespace berth {

class Recurrence {
 public:
  // The zone outlives it.
  Recurrence(const CronSchedule& schedule, Duration duration, const TimeZone& zone);

  // When what is open now ends, by its latest opening; nothing while it is closed.
  std::optional<Time> open_until(Time now) const;
  // The first opening after now; nothing if there is none in the next nine years, which leaves no
  // 29 February out.
  std::optional<Time> next_opening(Time now) const;

 private:
  using Day = std::chrono::local_days;
  bool opens_on(Day day) const;
  auto first_later(Day day, Time now) const;
  // The first opening of a day that is later than that, the last that is not.
  std::optional<Time> first_after(Day day, Time now) const;
  std::optional<Time> last_until(Day day, Time now) const;

  CronSchedule schedule_;
  std::vector<std::chrono::minutes> minutes_;  // of a day on which it opens
  Duration duration_;
  const TimeZone* zone_;
};

}  // namespace berth
