// SPDX-License-Identifier: Apache-2.0
// What the spec of one of berth's kinds may hold, as data: one table for strict decoding (`berth
// validate`), for decoding what the server sends, and for the test that keeps crds/ equal to it.
#pragma once

#include <cstdint>
#include <limits>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace berth {

enum class FieldType {
  kObject,
  kList,
  kMap,
  kString,
  kInteger,
  kBoolean,
  kIntOrPercent,
  kDuration
};

struct Field {
  std::string name;  // empty for a list's items and a map's values
  FieldType type = FieldType::kString;
  bool required = false;
  std::string default_json;  // empty: no default
  // Of an integer its value; of a string its length in characters; of a list or map its size.
  std::int64_t min = 0;
  std::int64_t max = std::numeric_limits<std::int64_t>::max();
  bool set = false;                 // a list whose items differ
  std::vector<std::string> keys;    // of a list of objects: the fields in which its items differ
  std::vector<std::string> one_of;  // a string's legal values
  std::string pattern;              // of a string; of a map's keys
  bool base64 = false;              // a string that encodes bytes
  std::string advice;               // what to write instead, when bounds or pattern are broken
  std::vector<Field> children;      // an object's fields; a list's item; a map's value

  const Field* find(std::string_view child) const;
};

struct Complaint {
  std::string path;
  std::string message;
};

// Checks types, bounds, enums, patterns and, if asked, names that the table does not know. Defaults
// are not filled in: the structs' members carry them. Null stands for absent, as the server has it.
enum class UnknownFields { kIgnore, kReport };
void check_field(const nlohmann::json& value, const Field& field, const std::string& path,
                 UnknownFields unknown, std::vector<Complaint>& complaints);

// What is said of a list or map with more entries than its field may have.
std::string too_many_message(std::int64_t count, const Field& field);

// "unknown field", with the nearest of the names that are known here.
std::string unknown_field_message(std::string_view name, const std::vector<std::string>& known);

// True if all of `text` matches the table's pattern. Patterns are compiled once.
bool matches_pattern(std::string_view text, const std::string& pattern);

}  // namespace berth
