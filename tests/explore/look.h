// SPDX-License-Identifier: Apache-2.0
// Look: reads stored objects, where any field may be missing.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>
#include <string_view>

namespace berth::explore {

using Path = std::initializer_list<std::string_view>;

// Null if the path leads nowhere, or the value is no object.
const nlohmann::json* at(const nlohmann::json* object, Path path);
// Empty if there is no string.
const std::string& text_at(const nlohmann::json* object, Path path);
bool true_at(const nlohmann::json* object, Path path);
std::int64_t number_at(const nlohmann::json* object, Path path);

// The keys whose values differ between two maps; null counts as an empty map.
std::set<std::string> changed_keys(const nlohmann::json* before, const nlohmann::json* after);

const std::string& label_at(const nlohmann::json* object, std::string_view key);
const std::string& annotation_at(const nlohmann::json* object, std::string_view key);

}  // namespace berth::explore
