// SPDX-License-Identifier: Apache-2.0
// UsageLedger: GpuHours in ConfigMap berth-usage, in berth's namespace. Key `checkpoint` has the
// time up to which usage is counted, and the budgets' periods. Each day and each month has two
// keys: usage by queue, and usage by pool. Every write carries the resourceVersion.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

#include "controller/core/plan.h"
#include "controller/core/snapshot.h"
#include "controller/core/view.h"
#include "controller/queue/budget/gpu_hours.h"

namespace berth::queue {

// Beyond this size berth removes the oldest periods. etcd takes 1.5 MiB, and each cache and dump
// has the whole ConfigMap.
inline constexpr std::size_t kMaxUsageBytes = 400 * 1024;

using UsageTexts = std::map<std::string, std::string>;  // the ConfigMap's data

// Ignores what it can't read.
GpuHours read_usage(const UsageTexts& data);
BudgetAccounts read_budget_accounts(const ConfigMap& config_map);

// Encodes the usage in at most `most` bytes. It first removes the oldest days, then the oldest
// months. If that is not enough, it keeps the current day and month by queue only. It always keeps
// budgets.
UsageTexts encode_usage(GpuHours& hours, std::size_t most = kMaxUsageBytes);

// The recorded usage, parsed once per change. A view (core/view.h).
class UsageLedgers {
 public:
  void follow(const Change<ConfigMap>& change);
  // Returns an empty object if there is none.
  const GpuHours& in(std::string_view namespace_) const;

 private:
  std::map<Text, GpuHours> ledgers_;  // by namespace
};
const GpuHours& gpu_hours_in(const ClusterState& cluster, const Settings& settings);

// Returns a patch of the version that was read, with what differs. `standing` is null if the
// ConfigMap does not exist.
Write write_usage(const Settings& settings, const ConfigMap* standing, const UsageTexts& data,
                  std::string reason);

}  // namespace berth::queue
