// SPDX-License-Identifier: Apache-2.0
// Validation: the real server's field errors, for objects that berth and the actors write. It omits
// rules that no program here breaks.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "controller/sim/server/status.h"
#include "controller/sim/world/resource_type.h"

namespace berth::sim {

std::vector<Cause> validate_create(const ResourceType& type, const nlohmann::json& object);
std::vector<Cause> validate_update(const ResourceType& type, const nlohmann::json& live,
                                   const nlohmann::json& next, const std::string& subresource);

}  // namespace berth::sim
