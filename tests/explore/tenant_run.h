// SPDX-License-Identifier: Apache-2.0
// TenantRun: the random tenant next to a team that requests its nominal quota from time to time. It
// checks only the store's pods:
//   Held      the tenant's pods on nodes never request more GPUs than nominal quota plus borrowing
//             limit of its queue, except while pods terminate
//   Starved   the other team's workloads, all within its nominal quota, get their GPUs in time,
//             whatever the tenant does
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "controller/scenario/scenario.h"

namespace berth::explore {

struct TenantReport {
  std::string failure;  // empty: both held
  std::int64_t writes = 0;
  std::int64_t most_held = 0;  // the tenant's GPUs at any one time
  int rounds = 0;              // of requests by the other team
};

// `writes`: the tenant's writes. The scenario has the teams alice and bob (tenant.yaml).
TenantReport play_tenant(const Scenario& scenario, std::uint64_t seed, std::int64_t writes,
                         const std::function<void(const std::string& line)>& transcript);

}  // namespace berth::explore
