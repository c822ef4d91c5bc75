// SPDX-License-Identifier: Apache-2.0
// JsonShapes: readers that work on both kinds of simdjson values: on-demand (json_reader.h) and
// parsed (dom_reader.h). Both headers include this one and provide each_field() and the other
// read() functions that it calls.
#pragma once

#include <fmt/format.h>
#include <simdjson.h>

#include <concepts>
#include <optional>
#include <string>
#include <string_view>

#include "apis/codec/fault.h"
#include "apis/kinds/core.h"

namespace berth {

template <class T>
concept JsonValue =
    std::same_as<T, simdjson::ondemand::value> || std::same_as<T, simdjson::dom::element>;

template <JsonValue Value>
bool read(Value value, std::string& out, Fault& fault) {
  std::string_view text;
  if (!read(value, text, fault)) return false;
  out.assign(text);
  return true;
}

template <JsonValue Value>
bool read(Value value, Text& out, Fault& fault) {
  std::string_view text;
  if (!read(value, text, fault)) return false;
  out = Text(text);
  return true;
}

template <JsonValue Value>
bool read(Value value, SelectorRequirement& out, Fault& fault) {
  return each_field(value, fault, [&](std::string_view key, Value field) {
    if (key == "key") return read(field, out.key, fault);
    if (key == "values") return read(field, out.values, fault);
    if (key != "operator") return true;
    std::string_view name;
    if (!read(field, name, fault)) return false;
    const std::optional<SelectorOperator> op = selector_operator(name);
    if (!op) return fault.bad(fmt::format("\"{}\" is not a known operator", name.substr(0, 64)));
    out.op = *op;
    return true;
  });
}

template <JsonValue Value>
bool read(Value value, Toleration& out, Fault& fault) {
  return each_field(value, fault, [&](std::string_view key, Value field) {
    if (key == "key") return read(field, out.key, fault);
    if (key == "operator") return read(field, out.op, fault);
    if (key == "value") return read(field, out.value, fault);
    if (key == "effect") return read(field, out.effect, fault);
    return true;
  });
}

}  // namespace berth
