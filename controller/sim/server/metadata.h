// SPDX-License-Identifier: Apache-2.0
// Metadata: the part of an object that the server handles in the same way for all kinds. Identity
// never changes, and fields that a client omits keep their values.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "controller/sim/server/status.h"
#include "controller/sim/world/resource_type.h"

namespace berth::sim {

// Copies from `live` the fields that `next` may omit and cannot change.
void keep_identity(const nlohmann::json& live, nlohmann::json& next);
// Field errors of a change of immutable metadata.
std::vector<Cause> find_changed_identity(const nlohmann::json& live, const nlohmann::json& next);

}  // namespace berth::sim
