// SPDX-License-Identifier: Apache-2.0
// Defaults: the effect of the API server's decoding. It removes nulls, empty lists and empty maps,
// as Go's types do, and fills in the kind's defaults.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "controller/sim/world/resource_type.h"

namespace berth::sim {

void set_defaults(const ResourceType& type, nlohmann::json& object);

}  // namespace berth::sim
