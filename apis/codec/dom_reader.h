// SPDX-License-Identifier: Apache-2.0
// DomReader: reads a parsed simdjson document (DOM) with the same functions as json_reader.h. Use
// it for untrusted input: the parser has checked every byte, also in fields that berth does not
// read. The length of a list is known before its items are read, so the caller can limit what it
// keeps.
#pragma once

#include <simdjson.h>

#include <cstddef>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "apis/codec/fault.h"
#include "apis/codec/json_shapes.h"
#include "apis/kinds/core.h"

namespace berth {

namespace dom = simdjson::dom;

// For a list that the caller only walks through.
inline constexpr std::size_t kAnyNumber = std::numeric_limits<std::size_t>::max();

bool wrong(dom::element value, std::string_view expected, Fault& fault);
bool too_many(std::size_t count, std::size_t most, Fault& fault);

// Calls on_field(key, value) → bool for each field; null has no fields. For a duplicate key it
// calls on_field twice, so that the last value counts, as in Go.
template <class OnField>
bool each_field(dom::element value, Fault& fault, OnField&& on_field) {
  dom::object object;
  if (value.get_object().get(object) != simdjson::SUCCESS)
    return value.is_null() || wrong(value, "an object", fault);
  for (const auto [key, field] : object)
    if (!on_field(key, field)) return fault.under(key);
  return true;
}

// Calls on_item(item) → bool for each item; null has no items. If a list is longer than `most`, it
// reads none of the items.
template <class OnItem>
bool each_item(dom::element value, std::size_t most, Fault& fault, OnItem&& on_item) {
  dom::array array;
  if (value.get_array().get(array) != simdjson::SUCCESS)
    return value.is_null() || wrong(value, "a list", fault);
  if (array.size() > most) return too_many(array.size(), most, fault);
  std::size_t index = 0;
  for (const dom::element item : array) {
    if (!on_item(item)) return fault.at(index);
    ++index;
  }
  return true;
}

// The number of items of a list or fields of an object; 0 for all else.
std::size_t size_of(dom::element value);

bool read(dom::element value, std::string_view& out, Fault& fault);  // lives with the document
bool read(dom::element value, bool& out, Fault& fault);
bool read(dom::element value, std::int64_t& out, Fault& fault);
bool read(dom::element value, Quantity& out, Fault& fault);
bool read(dom::element value, StringMap& out, Fault& fault);  // the caller has checked its size

// A list of values, each of which has its own read().
template <class T>
bool read(dom::element value, std::vector<T>& out, std::size_t most, Fault& fault) {
  out.clear();
  return each_item(value, most, fault,
                   [&](dom::element item) { return read(item, out.emplace_back(), fault); });
}
// The same without a limit: the caller has checked the length, or the list is part of checked data.
template <class T>
bool read(dom::element value, std::vector<T>& out, Fault& fault) {
  return read(value, out, kAnyNumber, fault);
}

}  // namespace berth
