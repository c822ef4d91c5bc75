// SPDX-License-Identifier: Apache-2.0
// Compact: JSON as the page gets it, whatever bytes a name is made of.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace berth {

std::string compact(const nlohmann::ordered_json& json);

}  // namespace berth
