// SPDX-License-Identifier: Apache-2.0
#include "controller/dump/json_at.h"

#include <nlohmann/json.hpp>

namespace berth {

using nlohmann::json;

const json& at(const json& object, std::initializer_list<std::string_view> path) {
  static const json kNothing;
  const json* value = &object;
  for (const std::string_view key : path) {
    if (!value->is_object()) return kNothing;
    const auto it = value->find(key);
    if (it == value->end()) return kNothing;
    value = &*it;
  }
  return *value;
}

std::string text_at(const json& object, std::initializer_list<std::string_view> path) {
  const json& value = at(object, path);
  return value.is_string() ? value.get<std::string>() : std::string();
}

}  // namespace berth
