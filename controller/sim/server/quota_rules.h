// SPDX-License-Identifier: Apache-2.0
// QuotaRules: validation of a ResourceQuota's limits: known resources and valid amounts.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "controller/sim/server/status.h"

namespace berth::sim {

void check_quota(const nlohmann::json& quota, std::vector<Cause>& causes);
// The first member that is no valid amount; empty if all are valid.
std::string find_wrong_amounts(const nlohmann::json& quota);

}  // namespace berth::sim
