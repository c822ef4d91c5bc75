// SPDX-License-Identifier: Apache-2.0
// JsonReader: reads simdjson's on-demand values in one pass, front to back, for decode_pod.cc,
// decode_node.cc and decode_lease.cc. It reads nothing twice and skips unwanted fields with
// simdjson's index. Every function returns false at the first error.
#pragma once

#include <simdjson.h>

#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apis/codec/fault.h"
#include "apis/codec/json_shapes.h"
#include "apis/kinds/core.h"

namespace berth {

namespace od = simdjson::ondemand;

struct PodSpecParts;

// JSON null means an absent field, as in Go.
inline bool is_null(od::value& value) {
  std::string_view token = value.raw_json_token();
  return !token.empty() && token.front() == 'n';
}

// The key's text. Keys of Kubernetes objects have no escapes, so the text is the bytes between the
// quotes. simdjson has already checked that the closing quote exists.
inline bool read_key(od::field& field, std::string_view& key, Fault& fault) {
  const char* start = field.key().raw();
  const char* end = start;
  while (*end != '"' && *end != '\\') ++end;
  if (*end == '"') {
    key = std::string_view(start, static_cast<std::size_t>(end - start));
    return true;
  }
  auto code = field.unescaped_key().get(key);
  return code == simdjson::SUCCESS || fault.broken(code);
}

// Calls on_field(key, value) → bool for each field; null has no fields.
template <class OnField>
bool each_field(od::value value, Fault& fault, OnField&& on_field) {
  od::object object;
  if (auto code = value.get_object().get(object); code != simdjson::SUCCESS) {
    return is_null(value) || fault.wrong(value, "an object", code);
  }
  for (auto result : object) {
    od::field field;
    std::string_view key;
    if (auto code = std::move(result).get(field); code != simdjson::SUCCESS)
      return fault.broken(code);
    if (!read_key(field, key, fault)) return false;
    if (!on_field(key, field.value())) return fault.under(key);
  }
  return true;
}

// Calls on_item(item) → bool for each item; null has no items.
template <class OnItem>
bool each_item(od::value value, Fault& fault, OnItem&& on_item) {
  od::array array;
  if (auto code = value.get_array().get(array); code != simdjson::SUCCESS) {
    return is_null(value) || fault.wrong(value, "a list", code);
  }
  std::size_t index = 0;
  for (auto result : array) {
    od::value item;
    if (auto code = std::move(result).get(item); code != simdjson::SUCCESS)
      return fault.broken(code);
    if (index == kMaxItems) return fault.too_many();
    if (!on_item(item)) return fault.at(index);
    ++index;
  }
  return true;
}

bool read(od::value value, std::string_view& out, Fault& fault);  // lives until the next document
bool read(od::value value, bool& out, Fault& fault);
bool read(od::value value, std::int64_t& out, Fault& fault);
bool read(od::value value, std::int32_t& out, Fault& fault);
bool read(od::value value, Time& out, Fault& fault);
bool read(od::value value, std::optional<Time>& out, Fault& fault);
bool read(od::value value, Quantity& out, Fault& fault);
bool read(od::value value, StringMap& out, Fault& fault);
bool read(od::value value, ResourceList& out, Fault& fault);
bool read(od::value value, OwnerReference& out, Fault& fault);
bool read(od::value value, NodeSelectorTerm& out, Fault& fault);  // decode_pod.cc
bool read(od::value value, Taint& out, Fault& fault);             // decode_node.cc
bool read(od::value spec, PodSpecParts& out, Fault& fault);       // decode_pod.cc
bool read(od::value value, ObjectMeta& out, Fault& fault);        // annotations by keeps_annotation

// A list of values, each of which has its own read(). They are collected in a vector that keeps its
// memory, and then moved to `out` with one allocation. No T contains a list of T.
template <class T>
bool read(od::value value, std::vector<T>& out, Fault& fault) {
  static std::vector<T> items;
  items.clear();
  const bool good = each_item(
      value, fault, [&](od::value item) { return read(item, items.emplace_back(), fault); });
  out.assign(std::make_move_iterator(items.begin()), std::make_move_iterator(items.end()));
  items.clear();
  return good;
}

}  // namespace berth
