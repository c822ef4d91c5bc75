// SPDX-License-Identifier: Apache-2.0
// Phases: the rollout phase of a simulated node, from the store.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "controller/disruption/rollout_annotation.h"

namespace berth {

// In the order of a rollout: Idle, Cordoned, Draining, Applying, Verifying, RollingBack, Failed. A
// scenario's whenPhase is one of them.
const std::vector<std::string>& rollout_phase_names();

// The rollout annotation of a node, which may be null.
RolloutRecord rollout_of(const nlohmann::json& node);

// Draining means Cordoned with GPU pods on the node. Verifying means Applying after mig-manager
// reported success. Also Idle if berth has never changed the node.
std::string rollout_phase(const nlohmann::json& node, bool has_gpu_pods);

}  // namespace berth
