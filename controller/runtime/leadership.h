// SPDX-License-Identifier: Apache-2.0
// Leadership: whether this process may plan, and under which epoch. To lead is to hold the lease
// of the installation, and the cluster's where one is asked for (cluster_claim.h), and to have
// written one's epoch into the slot ledger: a deposed leader's late ledger write
// carries the old epoch and an old resourceVersion, and fails.
//
// A dry run leads nothing: it plans under the epoch of the leader that is at work.
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
    std::function<void(std::string why)> on_lost;  // a lease; once
  };
  Leadership(Parts parts, const ControllerOptions& options);

  // True once we may plan; false if stopped first.
  Task<bool> lead(std::stop_token stop);
  // Ends the renewing; gives the lease up too, if all we wrote has come to its end.
  Task<void> resign(bool release);

  std::int64_t epoch() const { return epoch_; }
  // How long writes may be started yet; zero: not at all.
  std::chrono::nanoseconds time_left() const;
  // Why our plans are void, if the ConfigMap is a ledger and carries an epoch above ours: a
  // successor's, or a person's edit. Who leads next begins above it.
  std::optional<std::string> heed(const ConfigMap& config_map);
  // Whether another installation is asked about, and why that one keeps ours from leading.
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
  std::stop_source hold_;  // ends the renewing of the leases
  int holding_ = 0;        // leases
  std::int64_t epoch_ = 0;
};

}  // namespace berth
