// SPDX-License-Identifier: Apache-2.0
// WrongTypes: finds members of a wrong type, which the real server can't decode. It knows only the
// fields that berth, the actors and users write most.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "controller/sim/world/resource_type.h"

namespace berth::sim {

// Base64 text, the form of bytes. Go's decoder accepts line breaks but no other white space.
bool is_base64(const nlohmann::json& value);

// The first of them, "metadata.labels"; empty if there is none.
std::string find_wrong_type(const ResourceType& type, const nlohmann::json& object);

}  // namespace berth::sim
