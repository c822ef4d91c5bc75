// SPDX-License-Identifier: Apache-2.0
// Phases: where a node of the simulation stands in its rollout, told from the store's truth.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "controller/disruption/rollout_annotation.h"

namespace berth {

// In the order a node goes through them: Idle, Cordoned, Draining, Applying, Verifying,
// RollingBack, Failed. A scenario's whenPhase is one of them.
const std::vector<std::string>& rollout_phase_names();

// The annotation as it stands on a node, which may be null.
RolloutRecord rollout_of(const nlohmann::json& node);

// Draining is Cordoned while the node has GPU pods; Verifying is Applying once mig-manager says
// success. Idle also where berth never was.
std::string rollout_phase(const nlohmann::json& node, bool has_gpu_pods);

}  // namespace berth
