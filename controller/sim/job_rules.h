// SPDX-License-Identifier: Apache-2.0
// What a Job may be and become: its template is for good, but for a while when it is suspended and
// at rest.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "controller/sim/status.h"

namespace berth::sim {

void check_job(const nlohmann::json& job, std::vector<Cause>& causes);
// Of a creation, beside its name.
void check_new_job(const nlohmann::json& job, std::vector<Cause>& causes);
void check_job_change(const nlohmann::json& live, const nlohmann::json& next,
                      std::vector<Cause>& causes);
void check_job_status(const nlohmann::json& live, const nlohmann::json& next,
                      std::vector<Cause>& causes);

}  // namespace berth::sim
