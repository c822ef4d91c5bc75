// SPDX-License-Identifier: Apache-2.0
// TenantRun: the random tenant beside a team that asks for its nominal quota now and then. Judged
// on the store's pods alone:
//   Held    the tenant's pods on nodes never ask for more GPUs than nominal quota and borrowing
//           limit of its queue together, but for the time in which a pod may take to end
//   Starved the other team's work, all of it within its nominal quota, has its GPUs in time,
//           whatever the tenant does
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "controller/scenario/scenario.h"

namespace berth::explore {

struct TenantReport {
  std::string failure;  // empty: both held
  std::int64_t writes = 0;
  std::int64_t most_held = 0;  // GPUs of the tenant at once
  int rounds = 0;              // in which the other team asked for its quota
};

// So many writes of the tenant's. The scenario has the teams alice and bob (tenant.yaml).
TenantReport play_tenant(const Scenario& scenario, std::uint64_t seed, std::int64_t writes,
                         const std::function<void(const std::string& line)>& transcript);

}  // namespace berth::explore
