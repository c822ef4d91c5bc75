// SPDX-License-Identifier: Apache-2.0
// Since: the start of a report from a ledger of days and months.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "apis/base/result.h"
#include "apis/base/time.h"
#include "controller/core/ledger_spans.h"

namespace berth {

// "7d", "24h", "90m", "2026-11-01", "2026-11-01T08:00:00Z": at most `now`.
Result<Time> parse_since(std::string_view text, Time now);

// Returns the days if all days since then are kept, else the months, and the first of them. A day
// counts as a whole.
template <class Spans>
std::pair<const Spans*, std::string> spans_since(const Spans& days, const Spans& months, Time since,
                                                 Time now) {
  const bool kept = now - since < std::chrono::days(kDaysKept - 1);
  if (kept || months.empty()) return {&days, day_of(since)};
  return {&months, month_of(since)};
}

}  // namespace berth
