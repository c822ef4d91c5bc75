// SPDX-License-Identifier: Apache-2.0
// What the server asks of a ResourceQuota's bounds: resources that it knows, and amounts of them.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "controller/sim/status.h"

namespace berth::sim {

void check_quota(const nlohmann::json& quota, std::vector<Cause>& causes);
// The first member that holds no amounts; empty if all is well.
std::string find_wrong_amounts(const nlohmann::json& quota);

}  // namespace berth::sim
