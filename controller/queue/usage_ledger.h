// SPDX-License-Identifier: Apache-2.0
// UsageLedger: GpuHours as they stand in ConfigMap berth-usage, in berth's namespace. Key
// `checkpoint` has the moment up to which all is counted and the budgets' periods; beside it are
// two keys for each day and each month: by queue, and by pool. Every write carries the
// resourceVersion.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

#include "controller/core/plan.h"
#include "controller/core/snapshot.h"
#include "controller/core/view.h"
#include "controller/queue/gpu_hours.h"

namespace berth::queue {

// Beyond it the oldest goes: etcd takes 1.5 MiB, and a dump or a cache has it whole.
inline constexpr std::size_t kMaxUsageBytes = 400 * 1024;

using UsageTexts = std::map<std::string, std::string>;  // the ConfigMap's data

// What can't be read counts as not there.
GpuHours read_usage(const UsageTexts& data);
BudgetAccounts read_budget_accounts(const ConfigMap& config_map);

// As it is written down, in at most so many bytes. What goes first is the oldest day, then the
// oldest month; then the day and the month that run are kept by queue alone. Budgets always stay.
UsageTexts encode_usage(GpuHours& hours, std::size_t most = kMaxUsageBytes);

// What stands, read once per change. A view (core/view.h).
class UsageLedgers {
 public:
  void follow(const Change<ConfigMap>& change);
  // Nothing where there is none.
  const GpuHours& in(std::string_view namespace_) const;

 private:
  std::map<Text, GpuHours> ledgers_;  // by namespace
};
const GpuHours& gpu_hours_in(const ClusterState& cluster, const Settings& settings);

// What differs, as a patch of the very version that was read; `standing` is null if there is none.
Write write_usage(const Settings& settings, const ConfigMap* standing, const UsageTexts& data,
                  std::string reason);

}  // namespace berth::queue
