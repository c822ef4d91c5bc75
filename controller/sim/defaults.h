// SPDX-License-Identifier: Apache-2.0
// Defaults: what decoding makes of an object before anything looks at it. Nulls, empty lists and
// empty maps go, as Go's types lose them, and the defaults of the kind are filled in.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "controller/sim/resource_type.h"

namespace berth::sim {

void set_defaults(const ResourceType& type, nlohmann::json& object);

}  // namespace berth::sim
