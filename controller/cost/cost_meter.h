// SPDX-License-Identifier: Apache-2.0
// CostMeter: what this leader has counted since it last wrote the ledger. A new leader continues
// from the written ledger, as after a crash. It counts a gap of at most ten minutes at the current
// cost per hour. It does not count a longer gap, because berth does not know what ran.
#pragma once

#include "controller/core/plan.h"
#include "controller/core/snapshot.h"
#include "controller/cost/cost_ledger.h"

namespace berth {

// One key for all costs.
inline constexpr std::string_view kCostKey = "cost";

class CostMeter {
 public:
  // Counts up to now, every ten seconds, and writes the ledger once a minute.
  Plan reconcile(const Snapshot& snapshot);

 private:
  void begin_anew_if_edited(const ConfigMap* standing, Time now);

  cost::CostLedger ledger_;
  cost::SpendingsByCurrency hourly_;  // cost per hour since ledger_.at
  bool looked_ = false;               // whether ledger_ and hourly_ are known
  cost::CostTexts read_;              // the data that ledger_ began with
  cost::CostTexts written_;           // the data after the last write
  std::optional<Time> written_at_;
};

// Returns the written ledger, up to its checkpoint; empty: there is none.
cost::CostLedger costs_in(const ClusterState& cluster, const Settings& settings);

}  // namespace berth
