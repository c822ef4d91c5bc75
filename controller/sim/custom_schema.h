// SPDX-License-Identifier: Apache-2.0
// CustomSchema: the schemas of berth's own kinds: types, required fields, enums and bounds. It
// reads them from the tables that tests compare with the CRDs (apis/layout_fields.h,
// apis/policy_fields.h, apis/gpu_queue_fields.h). It knows one of their CEL rules.
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
