// SPDX-License-Identifier: Apache-2.0
// SecretRules: validation of Secrets: the type is immutable and decides which keys are required.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "controller/sim/server/status.h"

namespace berth::sim {

void check_secret(const nlohmann::json& secret, std::vector<Cause>& causes);
void check_secret_change(const nlohmann::json& live, const nlohmann::json& next,
                         std::vector<Cause>& causes);

}  // namespace berth::sim
