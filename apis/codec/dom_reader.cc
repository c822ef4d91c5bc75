// SPDX-License-Identifier: Apache-2.0
#include "apis/codec/dom_reader.h"

#include <fmt/format.h>

namespace berth {
namespace {

std::string_view describe_type(dom::element value) {
  switch (value.type()) {
    case dom::element_type::OBJECT:
      return "an object";
    case dom::element_type::ARRAY:
      return "a list";
    case dom::element_type::STRING:
      return "a string";
    case dom::element_type::BOOL:
      return "true or false";
    case dom::element_type::NULL_VALUE:
      return "null";
    default:
      return "a number";
  }
}

}  // namespace

bool wrong(dom::element value, std::string_view expected, Fault& fault) {
  return fault.bad(fmt::format("must be {}, is {}", expected, describe_type(value)));
}

bool too_many(std::size_t count, std::size_t most, Fault& fault) {
  return fault.bad(
      fmt::format("has {} entries, and berth reads at most {}; write fewer", count, most));
}

std::size_t size_of(dom::element value) {
  if (value.is_array()) return dom::array(value).size();
  return value.is_object() ? dom::object(value).size() : 0;
}

bool read(dom::element value, std::string_view& out, Fault& fault) {
  if (value.get_string().get(out) == simdjson::SUCCESS) return true;
  out = std::string_view();
  return value.is_null() || wrong(value, "a string", fault);
}

bool read(dom::element value, bool& out, Fault& fault) {
  if (value.get_bool().get(out) == simdjson::SUCCESS) return true;
  out = false;
  return value.is_null() || wrong(value, "true or false", fault);
}

bool read(dom::element value, std::int64_t& out, Fault& fault) {
  if (value.get_int64().get(out) == simdjson::SUCCESS) return true;
  return value.is_null() || wrong(value, "a whole number", fault);
}

bool read(dom::element value, Quantity& out, Fault& fault) {
  // A quantity is a string or a bare number.
  std::string text;
  if (value.is_string()) {
    if (!read(value, text, fault)) return false;
  } else if (value.is_int64()) {
    text = std::to_string(std::int64_t(value));
  } else if (value.is_uint64()) {
    text = std::to_string(std::uint64_t(value));
  } else if (value.is_double()) {
    text = fmt::format("{}", double(value));
  } else {
    return value.is_null() || wrong(value, "a quantity", fault);
  }
  const Result<Quantity> quantity = Quantity::parse(text);
  if (!quantity) return fault.bad(quantity.error().message);
  out = *quantity;
  return true;
}

bool read(dom::element value, StringMap& out, Fault& fault) {
  std::vector<StringMap::value_type> entries;
  const bool good = each_field(value, fault, [&](std::string_view key, dom::element field) {
    entries.emplace_back(key, Text());
    return read(field, entries.back().second, fault);
  });
  out = StringMap::take(entries);
  return good;
}

}  // namespace berth
