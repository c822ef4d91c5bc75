// SPDX-License-Identifier: Apache-2.0
// CustomSchema: the schemas of berth's own kinds: types, required fields, enums and bounds. It
// reads them from the tables that tests compare with the CRDs (apis/kinds/layout_fields.h,
// apis/kinds/policy_fields.h, apis/kinds/gpu_queue_fields.h). It knows one of their CEL rules.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "apis/kinds/fields.h"
#include "controller/sim/server/status.h"
#include "controller/sim/world/resource_type.h"

namespace berth::sim {

// The field `spec` of a custom kind.
const Field& custom_spec_field(const ResourceType& type);

void check_custom_schema(const ResourceType& type, const nlohmann::json& object,
                         std::vector<Cause>& causes);

}  // namespace berth::sim
