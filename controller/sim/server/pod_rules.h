// SPDX-License-Identifier: Apache-2.0
// PodRules: validation of pods. Scheduling gates can only be removed. While a pod has one, its node
// constraints can only become narrower.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "controller/sim/server/status.h"

namespace berth::sim {

void check_pod(const nlohmann::json& pod, std::vector<Cause>& causes);
void check_new_pod(const nlohmann::json& pod, std::vector<Cause>& causes);
void check_pod_change(const nlohmann::json& live, const nlohmann::json& next,
                      std::vector<Cause>& causes);

}  // namespace berth::sim
