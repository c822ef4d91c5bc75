// SPDX-License-Identifier: Apache-2.0
// CostLedger: what was paid since it was begun, by day and by month of UTC, as it stands in
// ConfigMap berth-costs of berth's namespace. A value: what it is next follows from what it is,
// from what an hour cost since, and from the clock. Times are whole seconds; amounts are millionths
// of the currency times seconds per hour (3,600 of them are a millionth), so that sums are exact.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>

#include "apis/base/time.h"
#include "controller/cost/spending.h"

namespace berth::cost {

inline constexpr Micros kSecondsOfHour = 3600;
// Of one currency and one period, the dearest; the others are one, named kOthers.
inline constexpr std::size_t kMaxNames = 100;
inline constexpr char kOthers[] = "(others)";
inline constexpr std::size_t kMaxBytes = 600 * 1024;

struct CostLedger {
  std::optional<Time> at;  // up to when all is counted; absent: nothing is yet
  std::map<std::string, SpendingsByCurrency> days;    // "2026-11-25"
  std::map<std::string, SpendingsByCurrency> months;  // "2026-11"
  bool operator==(const CostLedger&) const = default;
};

// Counts up to `now` what an hour has cost since the ledger's time. A clock that goes back by ten
// minutes at most counts nothing until it is where it was; one that goes back further counts on
// from where it is.
void spend_until(Time now, const SpendingsByCurrency& hourly, CostLedger& ledger);

using CostTexts = std::map<std::string, std::string>;  // the ConfigMap's data
// What can't be read counts as not there.
CostLedger read_costs(const CostTexts& data);
// As it is written down; where it would be too large the oldest days go.
CostTexts encode_costs(CostLedger& ledger);

}  // namespace berth::cost
