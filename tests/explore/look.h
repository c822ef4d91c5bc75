// SPDX-License-Identifier: Apache-2.0
// Look: reading stored objects, where anything may be missing.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>
#include <string_view>

namespace berth::explore {

using Path = std::initializer_list<std::string_view>;

// Null if the path does not lead anywhere, or the object is none.
const nlohmann::json* at(const nlohmann::json* object, Path path);
// Empty if there is no such string.
const std::string& text_at(const nlohmann::json* object, Path path);
bool true_at(const nlohmann::json* object, Path path);
std::int64_t number_at(const nlohmann::json* object, Path path);

// Keys of two maps whose values differ; null is an empty one.
std::set<std::string> changed_keys(const nlohmann::json* before, const nlohmann::json* after);

const std::string& label_at(const nlohmann::json* object, std::string_view key);
const std::string& annotation_at(const nlohmann::json* object, std::string_view key);

}  // namespace berth::explore
