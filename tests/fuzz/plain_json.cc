// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/plain_json.h"

#include <cstddef>
#include <nlohmann/json.hpp>

namespace berth::test {
namespace {

using Json = nlohmann::json;

constexpr int kMaxDepth = 60;  // its readers may recurse

std::size_t count_keys(const Json& value) {
  std::size_t count = value.is_object() ? value.size() : 0;
  for (const Json& child : value)
    if (child.is_structured()) count += count_keys(child);
  return count;
}

}  // namespace

std::optional<Json> plain_json(std::string_view text) {
  std::size_t keys = 0;
  bool plain = true;
  const auto look = [&](int depth, Json::parse_event_t event, Json& value) {
    if (event == Json::parse_event_t::key) ++keys;
    if (depth > kMaxDepth) plain = false;
    if (event == Json::parse_event_t::value && value.is_number_float()) plain = false;
    return true;
  };
  Json json = Json::parse(text, look, /*allow_exceptions=*/false);
  if (json.is_discarded() || !plain) return std::nullopt;
  if (json.is_structured() && count_keys(json) != keys) return std::nullopt;
  return json;
}

bool is_utf8(std::string_view text) {
  try {
    return !Json(text).dump().empty();
  } catch (const Json::exception&) {
    return false;
  }
}

}  // namespace berth::test
