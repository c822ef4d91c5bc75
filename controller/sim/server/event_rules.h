// SPDX-License-Identifier: Apache-2.0
// EventRules: the rules of events.k8s.io/v1 for an Event. Errors use the field names of the core
// group, in which the server stores Events.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "controller/sim/server/status.h"

namespace berth::sim {

void check_new_event(const nlohmann::json& event, std::vector<Cause>& causes);
// Only its series may change.
void check_event_change(const nlohmann::json& live, const nlohmann::json& next,
                        std::vector<Cause>& causes);

}  // namespace berth::sim
