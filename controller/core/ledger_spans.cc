// SPDX-License-Identifier: Apache-2.0
#include "controller/core/ledger_spans.h"

#include <chrono>

namespace berth {

std::string day_of(Time at) { return format_time(at).substr(0, 10); }
std::string month_of(Time at) { return format_time(at).substr(0, 7); }

std::string first_day_kept(Time now) { return day_of(now - std::chrono::days(kDaysKept - 1)); }

std::string first_month_kept(Time now) {
  const std::chrono::year_month_day today(std::chrono::floor<std::chrono::days>(now));
  const auto first = today.year() / today.month() / 1 - std::chrono::months(kMonthsKept - 1);
  return month_of(std::chrono::sys_days(first));
}

}  // namespace berth
