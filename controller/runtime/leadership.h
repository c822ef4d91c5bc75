// SPDX-License-Identifier: Apache-2.0
// Leadership: whether this process may plan, and with which epoch. To lead, a process holds the
// installation's lease and, if configured, the cluster's claim (cluster_claim.h), and has written
// its epoch into the slot ledger. A late ledger write of a previous leader has an old epoch and an
// old resourceVersion, and fails.
//
// A dry run does not lead: it plans with the epoch of the present leader.
//
// Loop thread only. It must live until resign() has returned.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>

#include "controller/client/api_client.h"
#include "controller/core/cluster_state.h"
#include "controller/core/plan.h"
#include "controller/core/reconcilers.h"
#include "controller/io/log.h"
#include "controller/io/task.h"
#include "controller/runtime/cluster_claim.h"
#include "controller/runtime/controller_options.h"
#include "controller/runtime/leader_election.h"
#include "controller/runtime/metrics.h"
#include "controller/runtime/outcome.h"

namespace berth {

class Leadership {
 public:
  struct Parts {
    ApiClient& client;
    ApiClient& lease_client;
    Log& log;
    Metrics& metrics;
    const ClusterState& cluster;
    const Reconcilers& reconcilers;
    std::function<Task<Outcome>(Plan plan, std::stop_token stop)> carry_out;
    std::function<void(std::string why)> on_lost;  // a lease was lost; called once
  };
  Leadership(Parts parts, const ControllerOptions& options);

  // True once this process may plan; false if stopped first.
  Task<bool> lead(std::stop_token stop);
  // Stops renewing. If `release`, it also releases the leases; call it so only if no write is in
  // flight.
  Task<void> resign(bool release);

  std::int64_t epoch() const { return epoch_; }
  // How long this process may still start writes; zero: not at all.
  std::chrono::nanoseconds time_left() const;
  // If the ConfigMap is a ledger with an epoch above this leader's, returns why its plans are void:
  // a new leader or a user's edit. The next leader starts with a higher epoch.
  std::optional<std::string> heed(const ConfigMap& config_map);
  // Whether a cluster claim is configured, and why another installation keeps this one from
  // leading.
  bool claims() const { return claim_.has_value(); }
  std::optional<std::string> claim_problem() const { return claim_->problem(); }

 private:
  Task<bool> take_leases(std::stop_token stop);
  Task<void> hold_lease();
  Task<void> hold_claim();
  Task<bool> claim_epoch(std::stop_token stop);

  Parts parts_;
  Loop& loop_;
  const ControllerOptions& options_;
  LeaderElector elector_;
  std::optional<ClusterClaim> claim_;
  std::stop_source hold_;  // stops the renewal of the leases
  int holding_ = 0;        // leases that it renews
  std::int64_t epoch_ = 0;
};

}  // namespace berth
