// SPDX-License-Identifier: Apache-2.0
// Validation: field errors of an object as the real server finds them, for what berth and the
// actors write. The rules of kinds that nobody here writes wrongly are left out.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "controller/sim/resource_type.h"
#include "controller/sim/status.h"

namespace berth::sim {

std::vector<Cause> validate_create(const ResourceType& type, const nlohmann::json& object);
std::vector<Cause> validate_update(const ResourceType& type, const nlohmann::json& live,
                                   const nlohmann::json& next, const std::string& subresource);

}  // namespace berth::sim
