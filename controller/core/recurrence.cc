// SPDX-License-Identifier: Apache-2.0
#include "controller/core/recurrence.h"

namespace berth {
namespace {

using namespace std::chrono_literals;
using std::chrono::days;
using std::chrono::floor;
using std::chrono::hours;
using std::chrono::minutes;

// No zone has moved its clocks by more than that at once, but to cross the date line.
constexpr auto kBiggestJump = 25h;

bool has(std::uint64_t bits, int bit) { return (bits >> bit & 1) != 0; }

}  // namespace

bool Recurrence::opens_on(Day day) const {
  const std::chrono::year_month_day date(day);
  const std::chrono::weekday weekday(day);
  return schedule_.fires_on(static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                            weekday.c_encoding());
}

std::optional<Time> Recurrence::first_after(Day day, Time now) const {
  if (!opens_on(day)) return std::nullopt;
  const LocalTime shown = zone_->to_local(now);
  for (int hour = 0; hour < 24; ++hour) {
    if (!has(schedule_.hours, hour) || day + hours(hour + 1) + kBiggestJump < shown) continue;
    for (int minute = 0; minute < 60; ++minute) {
      if (!has(schedule_.minutes, minute)) continue;
      const Time opens = zone_->to_time(day + hours(hour) + minutes(minute));
      if (opens > now) return opens;
    }
  }
  return std::nullopt;
}

std::optional<Time> Recurrence::last_until(Day day, Time now) const {
  if (!opens_on(day)) return std::nullopt;
  const LocalTime shown = zone_->to_local(now);
  for (int hour = 23; hour >= 0; --hour) {
    if (!has(schedule_.hours, hour) || day + hours(hour) > shown + kBiggestJump) continue;
    for (int minute = 59; minute >= 0; --minute) {
      if (!has(schedule_.minutes, minute)) continue;
      const Time opens = zone_->to_time(day + hours(hour) + minutes(minute));
      if (opens <= now) return opens;
    }
  }
  return std::nullopt;
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
