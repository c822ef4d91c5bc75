// SPDX-License-Identifier: Apache-2.0
// Members of an object that may be missing or of another type than they should be: reading them
// never fails, it finds nothing.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

namespace berth::sim {

using FieldPath = std::initializer_list<const char*>;

// Null if there is no such member.
const nlohmann::json* find_at(const nlohmann::json& object, FieldPath path);
// Empty if it is no text.
std::string text_at(const nlohmann::json& object, FieldPath path);
std::optional<std::int64_t> integer_at(const nlohmann::json& object, FieldPath path);
bool true_at(const nlohmann::json& object, FieldPath path);
// Whether the array at the path holds this text.
bool holds_text(const nlohmann::json& object, FieldPath path, const std::string& text);

// The object as the server writes it. Bytes that are not UTF-8 become U+FFFD.
std::string to_text(const nlohmann::json& object);

}  // namespace berth::sim
