// SPDX-License-Identifier: Apache-2.0
// LedgerSpans: the days and months of UTC that ledgers keep sums by, and how many of them.
#pragma once

#include <string>

#include "apis/time.h"

namespace berth {

std::string day_of(Time at);    // "2026-11-25"
std::string month_of(Time at);  // "2026-11"

// How many are kept, the one that runs among them.
inline constexpr int kDaysKept = 35;
inline constexpr int kMonthsKept = 13;
std::string first_day_kept(Time now);
std::string first_month_kept(Time now);

// Of a ledger that has both by name.
template <class Ledger>
void forget_old_spans(Time now, Ledger& ledger) {
  ledger.days.erase(ledger.days.begin(), ledger.days.lower_bound(first_day_kept(now)));
  ledger.months.erase(ledger.months.begin(), ledger.months.lower_bound(first_month_kept(now)));
}

}  // namespace berth
