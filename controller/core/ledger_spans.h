// SPDX-License-Identifier: Apache-2.0
// LedgerSpans: the UTC days and months by which ledgers keep sums, and how many they keep.
#pragma once

#include <string>

#include "apis/base/time.h"

namespace berth {

std::string day_of(Time at);    // "2026-11-25"
std::string month_of(Time at);  // "2026-11"

// How many a ledger keeps, the current one included.
inline constexpr int kDaysKept = 35;
inline constexpr int kMonthsKept = 13;
std::string first_day_kept(Time now);
std::string first_month_kept(Time now);

// For a ledger with maps `days` and `months`, by name.
template <class Ledger>
void forget_old_spans(Time now, Ledger& ledger) {
  ledger.days.erase(ledger.days.begin(), ledger.days.lower_bound(first_day_kept(now)));
  ledger.months.erase(ledger.months.begin(), ledger.months.lower_bound(first_month_kept(now)));
}

}  // namespace berth
