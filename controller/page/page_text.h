// SPDX-License-Identifier: Apache-2.0
// Compact JSON for the page; names may hold any bytes.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace berth {

std::string compact(const nlohmann::ordered_json& json);

}  // namespace berth
