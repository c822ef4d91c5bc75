// SPDX-License-Identifier: Apache-2.0
// CostMeter: what a leader has counted since what is written down. Whoever begins without it, as
// after a crash, goes on from what stands: a short gap is paid for as what comes after it, of a
// longer one nobody knows what ran.
#pragma once

#include "controller/core/plan.h"
#include "controller/core/snapshot.h"
#include "controller/cost/cost_ledger.h"

namespace berth {

// One key for all of it.
inline constexpr std::string_view kCostKey = "cost";

class CostMeter {
 public:
  // Counts up to now, every ten seconds, and writes down what is new once a minute.
  Plan reconcile(const Snapshot& snapshot);

 private:
  void begin_anew_if_edited(const ConfigMap* standing, Time now);

  cost::CostLedger ledger_;
  cost::SpendingsByCurrency hourly_;  // since ledger_.at
  bool looked_ = false;               // both are known
  cost::CostTexts read_;              // what ledger_ goes back to
  cost::CostTexts written_;           // and what was to stand after the last write
  std::optional<Time> written_at_;
};

// What stands, up to its checkpoint; nothing where there is none.
cost::CostLedger costs_in(const ClusterState& cluster, const Settings& settings);

}  // namespace berth
