// SPDX-License-Identifier: Apache-2.0
#include "apis/codec/parse_json.h"

#include <simdjson.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>

namespace berth {
namespace {

using nlohmann::json;
namespace dom = simdjson::dom;

json convert(dom::element element) {
  switch (element.type()) {
    case dom::element_type::OBJECT: {
      json::object_t object;
      for (const auto& [key, value] : dom::object(element))
        // fast if the keys are in order, as they often are
        object.insert_or_assign(object.end(), std::string(key), convert(value));
      return object;
    }
    case dom::element_type::ARRAY: {
      json::array_t array;
      array.reserve(dom::array(element).size());
      for (const dom::element item : dom::array(element)) array.push_back(convert(item));
      return array;
    }
    case dom::element_type::STRING:
      return std::string(std::string_view(element));
    case dom::element_type::INT64: {
      // nlohmann stores numbers without a sign as unsigned.
      const auto number = std::int64_t(element);
      return number < 0 ? json(number) : json(static_cast<std::uint64_t>(number));
    }
    case dom::element_type::UINT64:
      return std::uint64_t(element);
    case dom::element_type::DOUBLE:
      return double(element);
    case dom::element_type::BOOL:
      return bool(element);
    case dom::element_type::NULL_VALUE:
      break;
  }
  return nullptr;
}

constexpr std::size_t kSmallText = 64 << 10;
constexpr std::size_t kMostValues = 100'000;

// Subtracts the number of values from `left`. False when `left` reaches zero.
bool take_values(dom::element element, std::size_t& left) {
  if (left == 0) return false;
  --left;
  if (element.type() == dom::element_type::ARRAY) {
    for (const dom::element item : dom::array(element))
      if (!take_values(item, left)) return false;
  } else if (element.type() == dom::element_type::OBJECT) {
    for (const auto& field : dom::object(element))
      if (!take_values(field.value, left)) return false;
  }
  return true;
}

}  // namespace

json parse_json(std::string_view text) {
  // One parser per thread, because the truth check runs scripts in parallel. Never destroyed,
  // because static objects elsewhere may still parse.
  thread_local auto* parser = new dom::parser;
  dom::element root;
  if (parser->parse(text.data(), text.size()).get(root) == simdjson::SUCCESS) return convert(root);
  // simdjson refuses numbers beyond 64 bits, very deep nesting and a byte order mark. nlohmann
  // decides about these.
  return json::parse(text.begin(), text.end(), nullptr, /*allow_exceptions=*/false);
}

json parse_foreign_json(std::string_view text) {
  if (text.size() <= kSmallText) return parse_json(text);
  dom::parser parser;  // a local parser, so that its megabytes are freed
  dom::element root;
  std::size_t left = kMostValues;
  if (parser.parse(text.data(), text.size()).get(root) != simdjson::SUCCESS ||
      !take_values(root, left))
    return json(json::value_t::discarded);
  return convert(root);
}

}  // namespace berth
