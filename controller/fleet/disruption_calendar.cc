// SPDX-License-Identifier: Apache-2.0
#include "controller/fleet/disruption_calendar.h"

#include <fmt/format.h>

#include <algorithm>

namespace berth {
namespace {

constexpr int kMostChanges = 400;
constexpr std::chrono::hours kHorizon{366 * 24};

// Returns until when any of them is open; nothing if all are closed.
std::optional<Time> latest_end(const std::vector<Recurrence>& all, Time at) {
  std::optional<Time> latest;
  for (const Recurrence& one : all)
    if (const std::optional<Time> end = one.open_until(at); end && (!latest || *end > *latest))
      latest = end;
  return latest;
}

std::optional<Time> earliest_opening(const std::vector<Recurrence>& all, Time after) {
  std::optional<Time> earliest;
  for (const Recurrence& one : all)
    if (const std::optional<Time> next = one.next_opening(after);
        next && (!earliest || *next < *earliest))
      earliest = next;
  return earliest;
}

}  // namespace

DisruptionCalendar::DisruptionCalendar(const DisruptionSpec& spec, const TimeZones& zones)
    : any_time_(spec.windows.empty()) {
  windows_ = read(spec.windows, "spec.disruption.windows", zones);
  blackouts_ = read(spec.blackouts, "spec.disruption.blackouts", zones);
  never_ = blackouts_.size() < spec.blackouts.size();
}

std::vector<Recurrence> DisruptionCalendar::read(const std::vector<WindowSpec>& entries,
                                                 const std::string& field, const TimeZones& zones) {
  std::vector<Recurrence> all;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const WindowSpec& entry = entries[i];
    const Result<CronSchedule> schedule = parse_cron(entry.schedule);
    const TimeZone* zone = zones.find(entry.time_zone);
    if (!schedule.has_value())
      problems_.push_back(
          invalid_spec(fmt::format("{}[{}].schedule", field, i), schedule.error().message));
    else if (zone == nullptr)
      problems_.push_back(invalid_spec(
          fmt::format("{}[{}].timeZone", field, i),
          fmt::format("there is no time zone \"{}\": write an IANA name, such as Europe/Berlin",
                      entry.time_zone)));
    else
      all.emplace_back(*schedule, entry.duration, *zone);
  }
  return all;
}

bool DisruptionCalendar::open(Time at) const {
  return !never_ && (any_time_ || latest_end(windows_, at)) && !latest_end(blackouts_, at);
}

DisruptionStatus DisruptionCalendar::at(Time now) const {
  DisruptionStatus status;
  status.open = open(now);
  if (status.open)
    status.closes = closes(now);
  else
    status.next_opening = next_opening(now);
  return status;
}

// Steps from change to change until windows and blackouts both allow it.
std::optional<Time> DisruptionCalendar::next_opening(Time now) const {
  if (never_) return std::nullopt;
  Time at = now;
  for (int change = 0; change < kMostChanges && at < now + kHorizon; ++change) {
    if (const std::optional<Time> end = latest_end(blackouts_, at)) {
      at = *end;
    } else if (any_time_ || latest_end(windows_, at)) {
      return at;
    } else {
      const std::optional<Time> next = earliest_opening(windows_, at);
      if (!next) return std::nullopt;
      at = *next;
    }
  }
  return std::nullopt;
}

// Returns when windows that follow each other without a gap end, or a blackout begins.
std::optional<Time> DisruptionCalendar::closes(Time now) const {
  std::optional<Time> end = earliest_opening(blackouts_, now);
  if (end && *end >= now + kHorizon) end.reset();
  if (any_time_) return end;
  Time at = now;
  for (int change = 0; change < kMostChanges && at < now + kHorizon; ++change) {
    if (end && at >= *end) return end;
    const std::optional<Time> next = latest_end(windows_, at);
    if (!next) return at;
    at = *next;
  }
  return end;
}

}  // namespace berth
