// SPDX-License-Identifier: Apache-2.0
// ObjectFields: reads members of an object that may be missing or of a wrong type. Reading never
// fails; it returns nothing then.
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
// Whether the array at the path contains this text.
bool holds_text(const nlohmann::json& object, FieldPath path, const std::string& text);

// The object as the server writes it. Invalid UTF-8 becomes U+FFFD.
std::string to_text(const nlohmann::json& object);

}  // namespace berth::sim
