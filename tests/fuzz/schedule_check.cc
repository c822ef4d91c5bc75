// SPDX-License-Identifier: Apache-2.0
#include <chrono>

#include "apis/base/cron.h"
#include "controller/core/time_zones.h"
#include "controller/fleet/recurrence.h"
#include "controller/live/tz_database.h"
#include "tests/fuzz/checks.h"

namespace berth::test {
namespace {

using std::chrono::floor;
using std::chrono::minutes;

// 2026-01-01T00:00:00Z, and the span of the minute-by-minute search.
constexpr Time kBegin{std::chrono::seconds(1'767'225'600)};
constexpr int kMinutes = 3 * 24 * 60;

bool fires(const CronSchedule& schedule, Time at) {
  const auto day = floor<std::chrono::days>(at);
  const std::chrono::year_month_day date(day);
  const auto minute = static_cast<int>(floor<minutes>(at - day).count());
  return (schedule.minutes >> minute % 60 & 1) != 0 && (schedule.hours >> minute / 60 & 1) != 0 &&
         schedule.fires_on(static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                           std::chrono::weekday(day).c_encoding());
}

// In UTC, where each minute occurs once.
std::string check_by_minutes(const CronSchedule& schedule, Duration duration, Time now) {
  const Recurrence recurrence(schedule, duration, *utc_only().find("UTC"));
  const std::optional<Time> next = recurrence.next_opening(now);
  if (!next) return "a schedule that fires, and never opens";
  if (*next <= now || !fires(schedule, *next)) return "opens when the schedule does not fire";
  const Time first = floor<minutes>(now) + minutes(1);
  for (Time at = first; at < *next && at < first + minutes(kMinutes); at += minutes(1))
    if (fires(schedule, at)) return "an opening is passed over";
  return {};
}

std::string check_zone(const CronSchedule& schedule, Duration duration, Time now,
                       const TimeZone& zone) {
  const Recurrence recurrence(schedule, duration, zone);
  const std::optional<Time> next = recurrence.next_opening(now);
  if (!next) return {};
  if (*next <= now) return "the next opening is over";
  if (recurrence.next_opening(*next - std::chrono::seconds(30)) != next)
    return "an opening that moves";
  if (recurrence.open_until(*next) != *next + duration) return "open for longer than it says";
  const std::optional<Time> until = recurrence.open_until(now);
  return until && (*until <= now || *until > now + duration) ? "open at no time" : "";
}

}  // namespace

Verdict check_schedule(std::string_view input) {
  if (input.size() < 5) return {};
  std::int64_t start = 0;
  for (const char c : input.substr(0, 4)) start = start * 256 + static_cast<unsigned char>(c);
  const minutes duration(1 + 10 * static_cast<unsigned char>(input[4]));
  const Time now = kBegin + std::chrono::seconds(start % (4LL * 366 * 24 * 3600));
  const Result<CronSchedule> schedule = parse_cron(input.substr(5));
  if (!schedule.has_value())
    return {.wrong = schedule.error().message.size() > 400 ? "an error at length" : ""};
  static const TzDatabase zones;
  std::string wrong = check_by_minutes(*schedule, duration, now);
  for (const char* name : {"UTC", "Europe/Berlin", "Australia/Lord_Howe"})
    if (const TimeZone* zone = zones.find(name); zone != nullptr && wrong.empty())
      wrong = check_zone(*schedule, duration, now, *zone);
  return {.wrong = wrong, .read = true};
}

}  // namespace berth::test
