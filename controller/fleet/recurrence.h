// SPDX-License-Identifier: Apache-2.0
// Recurrence: a window that opens by a cron schedule in the local time of a time zone, and stays
// open for a while. If the clocks skip the hour of an opening, it opens when they skip it. If they
// show that hour twice, it opens only the first time.
#pragma once

#include <chrono>
#include <optional>
#include <vector>

#include "apis/base/cron.h"
#include "apis/base/time.h"
#include "controller/core/time_zones.h"

namespace berth {

class Recurrence {
 public:
  // `zone` must outlive the object.
  Recurrence(const CronSchedule& schedule, Duration duration, const TimeZone& zone);

  // Returns when the window that is open now ends, by its latest opening; nothing if it is closed.
  std::optional<Time> open_until(Time now) const;
  // Returns the first opening after now; nothing if there is none in the next nine years, which
  // always include a 29 February.
  std::optional<Time> next_opening(Time now) const;

 private:
  using Day = std::chrono::local_days;
  bool opens_on(Day day) const;
  auto first_later(Day day, Time now) const;
  // first_after() returns the day's first opening after `now`, and last_until() the last one not
  // after it.
  std::optional<Time> first_after(Day day, Time now) const;
  std::optional<Time> last_until(Day day, Time now) const;

  CronSchedule schedule_;
  std::vector<std::chrono::minutes> minutes_;  // of a day on which it opens
  Duration duration_;
  const TimeZone* zone_;
};

}  // namespace berth
