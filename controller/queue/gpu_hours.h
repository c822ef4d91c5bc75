// SPDX-License-Identifier: Apache-2.0
// GpuHours: how much queues have used, and what of it their budgets count: the sum over time of
// what their workloads hold, in whole-GPU equivalents. A value: what it is next follows from what
// it is, from what was held since and from the clock. Times are whole seconds, so that sums are
// exact; what is used is counted in millionths of a GPU times seconds.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "controller/core/ledger_spans.h"
#include "controller/queue/budget_period.h"

namespace berth::queue {

// By queue, and in it by namespace; empty where only the sum of all was kept.
using UsedByQueue = std::map<std::string, std::map<std::string, std::int64_t>>;

// Likewise by pool, whoever used it: "*" is what quotas of any pool were charged.
using UsedByPool = std::map<std::string, std::int64_t>;
struct PoolHours {
  std::map<std::string, UsedByPool> days;
  std::map<std::string, UsedByPool> months;
  bool operator==(const PoolHours&) const = default;
};

struct BudgetAccount {
  Period period;
  std::int64_t used = 0;
  bool operator==(const BudgetAccount&) const = default;
};
using BudgetAccounts = std::map<std::string, BudgetAccount, std::less<>>;  // by queue

struct GpuHours {
  std::optional<Time> at;  // up to when all of it is counted; absent: nothing is yet
  // By "2026-11-25" and by "2026-11", of UTC: what a month says its days say too, while they are
  // kept.
  std::map<std::string, UsedByQueue> days;
  std::map<std::string, UsedByQueue> months;
  PoolHours pools;
  BudgetAccounts budgets;
  bool operator==(const GpuHours&) const = default;
};

// What one workload holds in one pool.
struct Holding {
  std::string queue;
  std::string namespace_;
  std::int64_t gpus = 0;  // millionths
  Time since{};           // its admission
  std::string pool;
};

struct Holder {
  std::string queue;
  std::string namespace_;
  std::string pool;
  auto operator<=>(const Holder&) const = default;
};
using HeldGpus = std::map<Holder, std::int64_t>;  // in millionths of a GPU
HeldGpus sum_of(const std::vector<Holding>& holdings);

using Periods = std::map<std::string, Period>;  // of the queues that have a budget

// Counts up to `now`: what was held at `hours.at`, as if it had been held until now, and of what is
// held now whatever was admitted after that. Where nobody has looked since (`held` is null), what
// is held now and was admitted before counts as held all the time, and what has ended as ended
// then. A clock that goes back by ten minutes at most counts nothing until it is where it was; one
// that goes back further counts on from where it is.
void count_until(Time now, const HeldGpus* held, const std::vector<Holding>& holdings,
                 const Periods& periods, GpuHours& hours);

// A thousandth of a GPU hour, as budgets are written.
inline constexpr std::int64_t kThousandthHour = 3'600'000;

}  // namespace berth::queue
