// SPDX-License-Identifier: Apache-2.0
// The CRD's schema, as far as types, required fields, enums and bounds go: read from the table that
// a test keeps equal to the CRD (apis/layout_fields.h). Of its CEL rules one is known.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "controller/sim/status.h"

namespace berth::sim {

void check_layout_schema(const nlohmann::json& layout, std::vector<Cause>& causes);

}  // namespace berth::sim
