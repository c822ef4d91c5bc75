// SPDX-License-Identifier: Apache-2.0
// Fields: the fields that the spec of one of berth's kinds may have, as data. One table serves
// `berth validate`, the decoders, and the test that compares crds/ with it.
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
  // Bounds of an integer's value, a string's length in characters, or the size of a list or map.
  std::int64_t min = 0;
  std::int64_t max = std::numeric_limits<std::int64_t>::max();
  bool set = false;                 // a list without duplicates
  std::vector<std::string> keys;    // for a list of objects: the fields that identify an item
  std::vector<std::string> one_of;  // a string's legal values
  std::string pattern;              // for a string, or for a map's keys
  bool base64 = false;              // a string that encodes bytes
  std::string advice;               // what to write instead if bounds or pattern are violated
  std::vector<Field> children;      // an object's fields; a list's item; a map's value

  const Field* find(std::string_view child) const;
};

struct Complaint {
  std::string path;
  std::string message;
};

// Checks types, bounds, enums, patterns and, if asked, unknown names. It fills in no defaults: the
// structs' members have them. null counts as absent, as on the API server.
enum class UnknownFields { kIgnore, kReport };
void check_field(const nlohmann::json& value, const Field& field, const std::string& path,
                 UnknownFields unknown, std::vector<Complaint>& complaints);

// The message about a list or map with too many entries.
std::string too_many_message(std::int64_t count, const Field& field);

// "unknown field", with the most similar known name.
std::string unknown_field_message(std::string_view name, const std::vector<std::string>& known);

// True if the pattern matches all of `text`. Each pattern is compiled once.
bool matches_pattern(std::string_view text, const std::string& pattern);

}  // namespace berth
