// SPDX-License-Identifier: Apache-2.0
#include "tests/explore/look.h"

#include <nlohmann/json.hpp>

namespace berth::explore {

using nlohmann::json;

const json* at(const json* object, Path path) {
  for (std::string_view step : path) {
    if (object == nullptr || !object->is_object()) return nullptr;
    const auto found = object->find(step);
    object = found == object->end() ? nullptr : &*found;
  }
  return object;
}

const std::string& text_at(const json* object, Path path) {
  static const std::string kNone;
  const json* found = at(object, path);
  return found != nullptr && found->is_string() ? found->get_ref<const std::string&>() : kNone;
}

bool true_at(const json* object, Path path) {
  const json* found = at(object, path);
  return found != nullptr && found->is_boolean() && found->get<bool>();
}

std::int64_t number_at(const json* object, Path path) {
  const json* found = at(object, path);
  return found != nullptr && found->is_number() ? found->get<std::int64_t>() : 0;
}

const std::string& label_at(const json* object, std::string_view key) {
  return text_at(object, {"metadata", "labels", key});
}

const std::string& annotation_at(const json* object, std::string_view key) {
  return text_at(object, {"metadata", "annotations", key});
}

std::set<std::string> changed_keys(const json* before, const json* after) {
  std::set<std::string> keys;
  if (before != nullptr)
    for (const auto& [key, value] : before->items())
      if (const json* is = at(after, {key}); is == nullptr || *is != value) keys.insert(key);
  if (after != nullptr)
    for (const auto& [key, value] : after->items())
      if (at(before, {key}) == nullptr) keys.insert(key);
  return keys;
}

}  // namespace berth::explore
