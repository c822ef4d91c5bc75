// SPDX-License-Identifier: Apache-2.0
// What events.k8s.io/v1 asks of an Event. Causes name some fields as the core group does, in which
// the server keeps them.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "controller/sim/status.h"

namespace berth::sim {

void check_new_event(const nlohmann::json& event, std::vector<Cause>& causes);
// Its content is for good; only its series goes on.
void check_event_change(const nlohmann::json& live, const nlohmann::json& next,
                        std::vector<Cause>& causes);

}  // namespace berth::sim
