// SPDX-License-Identifier: Apache-2.0
// What stands at a path of a JSON document; of another type than expected, or absent: nothing.
#pragma once

#include <initializer_list>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace berth {

// null where there is nothing.
const nlohmann::json& at(const nlohmann::json& object,
                         std::initializer_list<std::string_view> path);
std::string text_at(const nlohmann::json& object, std::initializer_list<std::string_view> path);

}  // namespace berth
