// SPDX-License-Identifier: Apache-2.0
// CostLedger: what the GPUs have cost since the ledger began, by day and by month of UTC. ConfigMap
// berth-costs in berth's namespace holds it. It is a value: the next ledger follows from the
// current one, from the cost per hour since, and from the clock. Times are whole seconds. Amounts
// are millionths of the currency times seconds per hour (3,600 of them are a millionth), so that
// sums are exact.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>

#include "apis/base/time.h"
#include "controller/cost/spending.h"

namespace berth::cost {

inline constexpr Micros kSecondsOfHour = 3600;
// The most names for one currency and one period. The most expensive names stay, and the others
// become one, kOthers.
inline constexpr std::size_t kMaxNames = 100;
inline constexpr char kOthers[] = "(others)";
inline constexpr std::size_t kMaxBytes = 600 * 1024;

struct CostLedger {
  std::optional<Time> at;  // end of the counted time; absent: nothing is counted yet
  std::map<std::string, SpendingsByCurrency> days;    // "2026-11-25"
  std::map<std::string, SpendingsByCurrency> months;  // "2026-11"
  bool operator==(const CostLedger&) const = default;
};

// Adds what each hour has cost from the ledger's time until `now`. If the clock goes back by at
// most ten minutes, nothing is added until it reaches the ledger's time again. If it goes back
// further, the ledger continues from the new time.
void spend_until(Time now, const SpendingsByCurrency& hourly, CostLedger& ledger);

using CostTexts = std::map<std::string, std::string>;  // the ConfigMap's data
// Ignores what it can't read.
CostLedger read_costs(const CostTexts& data);
// Returns the ConfigMap's data. If it would be too large, the oldest days are dropped, in `ledger`
// as well.
CostTexts encode_costs(CostLedger& ledger);

}  // namespace berth::cost
