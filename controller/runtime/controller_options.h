// SPDX-License-Identifier: Apache-2.0
// ControllerOptions: a controller's fixed settings.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "controller/core/settings.h"
#include "controller/core/time_zones.h"
#include "controller/runtime/leader_election.h"

namespace berth {

struct ControllerOptions {
  Settings settings;
  LeaseOptions lease;
  bool leader_elect = true;
  // Namespace of the Lease that only one installation's leader in the cluster holds; empty: berth
  // uses no such Lease.
  std::string claim_namespace;
  bool dry_run = false;       // logs plans and writes nothing, not even a lease
  bool keep_history = false;  // in ConfigMaps berth-history-… (history.h)
  std::chrono::nanoseconds sync_limit = std::chrono::minutes(2);
  std::chrono::nanoseconds drain_limit = std::chrono::seconds(20);
  std::chrono::nanoseconds reevaluate_period = std::chrono::hours(10);
  std::uint64_t seed = 0;
  const TimeZones* zones = &utc_only();  // must outlive the controller
};

}  // namespace berth
