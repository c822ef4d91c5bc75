// SPDX-License-Identifier: Apache-2.0
// Values at a path of a JSON document. An absent value, or one of another type, reads as empty.
#pragma once

#include <initializer_list>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace berth {

// null if the path is absent.
const nlohmann::json& at(const nlohmann::json& object,
                         std::initializer_list<std::string_view> path);
std::string text_at(const nlohmann::json& object, std::initializer_list<std::string_view> path);

}  // namespace berth
