// SPDX-License-Identifier: Apache-2.0
// Members of another type than their field has. The real server fails to read such an object; here
// only the fields are known that berth, the actors and people write most.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "controller/sim/resource_type.h"

namespace berth::sim {

// Text in base64, as bytes are written; Go's reader puts up with line breaks and no other space.
bool is_base64(const nlohmann::json& value);

// The first of them, as "metadata.labels"; empty if all is well.
std::string find_wrong_type(const ResourceType& type, const nlohmann::json& object);

}  // namespace berth::sim
