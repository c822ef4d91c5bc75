// SPDX-License-Identifier: Apache-2.0
#include "controller/health/known_findings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ranges>

#include "apis/base/time.h"

namespace berth {
namespace {

// Removes the first entry from a comma-separated list and returns it. A key holds no comma.
std::string_view take_next(std::string_view& list) {
  const std::string_view next = list.substr(0, list.find(','));
  list.remove_prefix(std::min(next.size() + 1, list.size()));
  return next;
}

bool is_found(const NodeFindings& found, std::string_view key) {
  return std::ranges::any_of(found.all,
                             [&](const GpuFault& finding) { return finding.key() == key; });
}

}  // namespace

// A record from an earlier release, or one that a user wrote, has no time for each key. Its keys
// get the time of the record.
KnownFindings::KnownFindings(const HealthRecord& record) {
  std::string_view keys = record.keys, times = record.seen;
  while (!keys.empty()) {
    const std::string_view key = take_next(keys);
    const Result<Time> time = parse_time(take_next(times));
    if (!key.empty()) seen_.emplace(key, time ? *time : record.last);
  }
}

bool KnownFindings::any(const std::function<bool(std::string_view key)>& is) const {
  return std::ranges::any_of(seen_, [&](const auto& entry) { return is(entry.first); });
}

void KnownFindings::learn(const NodeFindings& found) {
  for (const GpuFault& finding : found.all) seen_.try_emplace(finding.key(), finding.at);
  see(found);
}

void KnownFindings::see(const NodeFindings& found) {
  for (const GpuFault& finding : found.all)
    if (const auto known = seen_.find(finding.key()); known != seen_.end())
      known->second = std::max(known->second, finding.at);
}

void KnownFindings::forget_unseen(const NodeFindings& found, Time since) {
  std::erase_if(seen_, [&](const auto& entry) {
    return entry.second <= since && !is_found(found, entry.first);
  });
}

std::optional<Time> KnownFindings::first_unseen(const NodeFindings& found) const {
  std::optional<Time> first;
  for (const auto& [key, time] : seen_)
    if (!is_found(found, key)) first = std::min(first.value_or(time), time);
  return first;
}

std::optional<Duration> KnownFindings::lag(const KnownFindings& record) const {
  Duration most{};
  if (seen_.size() != record.seen_.size()) return std::nullopt;
  for (const auto& [key, time] : seen_) {
    const auto written = record.seen_.find(key);
    if (written == record.seen_.end()) return std::nullopt;
    most = std::max(most, std::chrono::ceil<Duration>(time - written->second));
  }
  return most;
}

void KnownFindings::store(HealthRecord& record) const {
  record.keys = fmt::format("{}", fmt::join(seen_ | std::views::keys, ","));
  record.seen.clear();
  for (const Time time : seen_ | std::views::values) {
    record.seen += fmt::format("{}{}", record.seen.empty() ? "" : ",", format_time(time));
    record.last = std::max(record.last, time);
  }
}

}  // namespace berth
