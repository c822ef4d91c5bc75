// SPDX-License-Identifier: Apache-2.0
#include "controller/sim/object_fields.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>

namespace berth::sim {

using nlohmann::json;

const json* find_at(const json& object, FieldPath path) {
  const json* at = &object;
  for (const char* member : path) {
    const auto* object_here = at->get_ptr<const json::object_t*>();
    if (object_here == nullptr) return nullptr;
    const auto found = object_here->find(std::string_view(member));
    if (found == object_here->end()) return nullptr;
    at = &found->second;
  }
  return at;
}

std::string text_at(const json& object, FieldPath path) {
  const json* found = find_at(object, path);
  return found != nullptr && found->is_string() ? found->get_ref<const std::string&>()
                                                : std::string();
}

std::optional<std::int64_t> integer_at(const json& object, FieldPath path) {
  const json* found = find_at(object, path);
  if (found == nullptr || !found->is_number_integer()) return std::nullopt;
  return found->get<std::int64_t>();
}

bool true_at(const json& object, FieldPath path) {
  const json* found = find_at(object, path);
  return found != nullptr && found->is_boolean() && found->get<bool>();
}

bool holds_text(const json& object, FieldPath path, const std::string& text) {
  const json* found = find_at(object, path);
  return found != nullptr && found->is_array() &&
         std::find(found->begin(), found->end(), text) != found->end();
}

std::string to_text(const json& object) {
  return object.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace berth::sim
