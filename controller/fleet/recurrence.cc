// SPDX-License-Identifier: Apache-2.0
#include "controller/fleet/recurrence.h"

#include <algorithm>

namespace berth {
namespace {

using std::chrono::days;
using std::chrono::floor;
using std::chrono::minutes;

bool has(std::uint64_t bits, int bit) { return (bits >> bit & 1) != 0; }

}  // namespace

Recurrence::Recurrence(const CronSchedule& schedule, Duration duration, const TimeZone& zone)
    : schedule_(schedule), duration_(duration), zone_(&zone) {
  for (int minute = 0; minute < 24 * 60; ++minute)
    if (has(schedule.hours, minute / 60) && has(schedule.minutes, minute % 60))
      minutes_.push_back(minutes(minute));
}

bool Recurrence::opens_on(Day day) const {
  const std::chrono::year_month_day date(day);
  const std::chrono::weekday weekday(day);
  return schedule_.fires_on(static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                            weekday.c_encoding());
}

// A later local time is never an earlier time, even if the clock changes. So a binary search works.
auto Recurrence::first_later(Day day, Time now) const {
  return std::ranges::partition_point(
      minutes_, [&](minutes minute) { return zone_->to_time(day + minute) <= now; });
}

std::optional<Time> Recurrence::first_after(Day day, Time now) const {
  if (!opens_on(day)) return std::nullopt;
  const auto later = first_later(day, now);
  if (later == minutes_.end()) return std::nullopt;
  return zone_->to_time(day + *later);
}

std::optional<Time> Recurrence::last_until(Day day, Time now) const {
  if (!opens_on(day)) return std::nullopt;
  const auto later = first_later(day, now);
  if (later == minutes_.begin()) return std::nullopt;
  return zone_->to_time(day + *std::prev(later));
}

std::optional<Time> Recurrence::open_until(Time now) const {
  const Day earliest = floor<days>(zone_->to_local(now - duration_)) - days(1);
  for (Day day = floor<days>(zone_->to_local(now)) + days(1); day >= earliest; day -= days(1)) {
    const std::optional<Time> opened = last_until(day, now);
    if (!opened) continue;
    if (*opened + duration_ <= now) return std::nullopt;
    return *opened + duration_;
  }
  return std::nullopt;
}

std::optional<Time> Recurrence::next_opening(Time now) const {
  const Day today = floor<days>(zone_->to_local(now));
  for (Day day = today - days(1); day <= today + days(9 * 366); day += days(1))
    if (std::optional<Time> opens = first_after(day, now)) return opens;
  return std::nullopt;
}

}  // namespace berth
