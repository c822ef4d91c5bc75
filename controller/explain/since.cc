// SPDX-License-Identifier: Apache-2.0
#include "controller/explain/since.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>

namespace berth {
namespace {

constexpr std::int64_t kMostDays = 366 * 2;

// "7d"
std::optional<std::int64_t> days_in(std::string_view text) {
  if (!text.ends_with('d')) return std::nullopt;
  text.remove_suffix(1);
  std::int64_t days = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), days);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole && days > 0 && days <= kMostDays ? std::optional(days) : std::nullopt;
}

}  // namespace

Result<Time> parse_since(std::string_view text, Time now) {
  Time since{};
  if (const auto days = days_in(text)) {
    since = now - std::chrono::days(*days);
  } else if (const Result<Duration> ago = parse_duration(text)) {
    since = now - *ago;
  } else if (const Result<Time> moment = parse_time(text)) {
    since = *moment;
  } else if (const Result<Time> day = parse_time(std::string(text) + "T00:00:00Z")) {
    since = *day;
  } else {
    return invalid_spec("--since", fmt::format("is {}; write a duration or a date, as 7d, 24h or "
                                               "2026-11-01",
                                               text));
  }
  if (since > now) return invalid_spec("--since", fmt::format("is {}, which is yet to come", text));
  return since;
}

}  // namespace berth
