// SPDX-License-Identifier: Apache-2.0
// Since when a ledger of days and months is to be told.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "apis/result.h"
#include "apis/time.h"

namespace berth {

// "7d", "24h", "90m", "2026-11-01", "2026-11-01T08:00:00Z": not after `now`.
Result<Time> parse_since(std::string_view text, Time now);

// How many days a ledger keeps, the one that runs among them.
inline constexpr int kDaysTold = 35;

// The days, while all since then are kept, else the months; and the first of them. Days count
// whole.
template <class Spans>
std::pair<const Spans*, std::string> spans_since(const Spans& days, const Spans& months, Time since,
                                                 Time now) {
  const std::string first = format_time(since);
  const bool kept = now - since < std::chrono::days(kDaysTold - 1);
  if (kept || months.empty()) return {&days, first.substr(0, 10)};
  return {&months, first.substr(0, 7)};
}

}  // namespace berth
