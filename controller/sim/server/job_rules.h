// SPDX-License-Identifier: Apache-2.0
// JobRules: validation of Jobs. A Job's template is immutable, except while the Job is suspended
// and has no pods.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "controller/sim/server/status.h"

namespace berth::sim {

void check_job(const nlohmann::json& job, std::vector<Cause>& causes);
// For a creation, without its name.
void check_new_job(const nlohmann::json& job, std::vector<Cause>& causes);
void check_job_change(const nlohmann::json& live, const nlohmann::json& next,
                      std::vector<Cause>& causes);
void check_job_status(const nlohmann::json& live, const nlohmann::json& next,
                      std::vector<Cause>& causes);

}  // namespace berth::sim
