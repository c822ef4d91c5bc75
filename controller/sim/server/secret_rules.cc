// SPDX-License-Identifier: Apache-2.0
#include "controller/sim/server/secret_rules.h"

#include <fmt/format.h>

#include <cctype>
#include <nlohmann/json.hpp>
#include <string>

#include "controller/sim/world/object_fields.h"

namespace berth::sim {

using nlohmann::json;

namespace {

bool is_key(const std::string& text) {
  for (const char c : text)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '-' && c != '_' && c != '.')
      return false;
  return !text.empty() && text != "." && !text.starts_with("..");
}

}  // namespace

void check_secret(const json& secret, std::vector<Cause>& causes) {
  const json* data = find_at(secret, {"data"});
  if (data != nullptr && data->is_object())
    for (const auto& [key, value] : data->items())
      if (!is_key(key))
        causes.push_back(
            invalid_value(fmt::format("data[{}]", key), quote(key), "is no name of a file"));
  if (text_at(secret, {"type"}) != "kubernetes.io/tls") return;
  for (const char* key : {"tls.crt", "tls.key"})
    if (data == nullptr || !data->contains(key))
      causes.push_back(required_value(fmt::format("data[{}]", key)));
}

void check_secret_change(const json& live, const json& next, std::vector<Cause>& causes) {
  if (live.value("type", json()) != next.value("type", json()))
    causes.push_back(immutable("type", quote(text_at(next, {"type"}))));
  if (!true_at(live, {"immutable"})) return;
  if (!true_at(next, {"immutable"}))
    causes.push_back(forbidden_field("immutable", "field is immutable when `immutable` is set"));
  if (live.value("data", json::object()) != next.value("data", json::object()))
    causes.push_back(forbidden_field("data", "field is immutable when `immutable` is set"));
}

}  // namespace berth::sim
