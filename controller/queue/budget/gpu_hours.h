// SPDX-License-Identifier: Apache-2.0
// GpuHours: how many GPU hours queues have used, and how much of it their budgets count. It is the
// sum over time of what workloads hold, in whole-GPU equivalents. It is a pure value: the next one
// follows from the last one, the holdings since then, and the clock. Times are whole seconds, so
// sums are exact. Usage is in millionths of a GPU times seconds.
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
#include "controller/queue/budget/budget_period.h"

namespace berth::queue {

// By queue and namespace. Both are empty in periods for which only the total was kept.
using UsedByQueue = std::map<std::string, std::map<std::string, std::int64_t>>;

// By pool, over all queues. "*" is what was charged to quotas of any pool.
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
  std::optional<Time> at;  // all usage up to this time is counted; absent: none yet
  // By day "2026-11-25" and month "2026-11", in UTC. A month contains the usage of its days.
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
  std::int64_t gpus = 0;  // millionths of a GPU
  Time since{};           // the time of its admission
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

using Periods = std::map<std::string, Period>;  // of the queues with a budget

// Counts usage up to `now`. `held` is what workloads held at `hours.at`. It counts as held until
// now. Of `holdings`, those that were admitted since count too. If `held` is null, as for a new
// leader, current holdings count for all the time since their admission or hours.at, whichever is
// later, and workloads that ended in between are not counted. If the clock goes back by ten minutes
// at most, nothing is counted until it has caught up. If it goes back further, counting continues
// from the new time.
void count_until(Time now, const HeldGpus* held, const std::vector<Holding>& holdings,
                 const Periods& periods, GpuHours& hours);

// A thousandth of a GPU hour, the smallest unit of budgets.
inline constexpr std::int64_t kThousandthHour = 3'600'000;

}  // namespace berth::queue
