// SPDX-License-Identifier: Apache-2.0
#include "tests/support/object.h"

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace berth::test {
namespace {

using nlohmann::json;

const json* find(const json& value, const std::string& pointer) {
  const json::json_pointer path(pointer);
  return value.contains(path) ? &value.at(path) : nullptr;
}

std::string as_text(const json& value) {
  if (value.is_null()) return "";
  return value.is_string() ? value.get<std::string>() : value.dump();
}

}  // namespace

Object::Object() : value_(std::make_shared<const json>()) {}

Object::Object(json value) : value_(std::make_shared<const json>(std::move(value))) {}

Object Object::parse(const std::string& json_text) {
  json value = json::parse(json_text, nullptr, /*allow_exceptions=*/false);
  if (value.is_discarded()) throw std::runtime_error("not JSON: " + json_text.substr(0, 200));
  return Object(std::move(value));
}

bool Object::has(const std::string& pointer) const { return find(*value_, pointer) != nullptr; }

std::string Object::text(const std::string& pointer) const {
  const json* found = find(*value_, pointer);
  return found == nullptr ? "" : as_text(*found);
}

long long Object::number(const std::string& pointer) const {
  return std::strtoll(text(pointer).c_str(), nullptr, 10);
}

bool Object::truth(const std::string& pointer) const { return text(pointer) == "true"; }

Object Object::at(const std::string& pointer) const {
  const json* found = find(*value_, pointer);
  return found == nullptr ? Object() : Object(*found);
}

std::vector<Object> Object::items(const std::string& pointer) const {
  std::vector<Object> out;
  const json* found = find(*value_, pointer);
  if (found != nullptr && found->is_array())
    for (const json& item : *found) out.emplace_back(item);
  return out;
}

std::map<std::string, std::string> Object::strings(const std::string& pointer) const {
  std::map<std::string, std::string> out;
  const json* found = find(*value_, pointer);
  if (found != nullptr && found->is_object())
    for (const auto& [key, value] : found->items()) out[key] = as_text(value);
  return out;
}

std::string Object::label(const std::string& key) const {
  return text("/metadata/labels/" + pointer_step(key));
}

std::string Object::annotation(const std::string& key) const {
  return text("/metadata/annotations/" + pointer_step(key));
}

std::string Object::condition(const std::string& type, const std::string& field) const {
  const json* conditions = find(*value_, "/status/conditions");
  if (conditions == nullptr || !conditions->is_array()) return "";
  for (const json& entry : *conditions)
    if (entry.value("type", "") == type)
      return entry.contains(field) ? as_text(entry.at(field)) : "";
  return "";
}

std::string Object::dump() const { return value_->dump(); }

std::string pointer_step(std::string_view key) {
  std::string out;
  for (const char c : key) {
    if (c == '~')
      out += "~0";
    else if (c == '/')
      out += "~1";
    else
      out += c;
  }
  return out;
}

}  // namespace berth::test
