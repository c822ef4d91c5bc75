// SPDX-License-Identifier: Apache-2.0
// The schemas of berth's own kinds, as far as types, required fields, enums and bounds go: read
// from the tables that tests keep equal to the CRDs (apis/layout_fields.h, apis/policy_fields.h,
// apis/gpu_queue_fields.h).
// Of their CEL rules one is known.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "apis/fields.h"
#include "controller/sim/resource_type.h"
#include "controller/sim/status.h"

namespace berth::sim {

// The field `spec` of a custom kind.
const Field& custom_spec_field(const ResourceType& type);

void check_custom_schema(const ResourceType& type, const nlohmann::json& object,
                         std::vector<Cause>& causes);

}  // namespace berth::sim
