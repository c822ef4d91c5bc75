// SPDX-License-Identifier: Apache-2.0
#include "apis/codec/pick_json.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "apis/codec/dom_reader.h"

namespace berth {
namespace {

using Json = nlohmann::json;

constexpr std::array<std::string_view, 5> kIdentity = {"name", "uid", "generation",
                                                       "creationTimestamp", "deletionTimestamp"};

// An empty value of the same type.
Json hollow(dom::element value) {
  switch (value.type()) {
    case dom::element_type::OBJECT:
      return Json::object();
    case dom::element_type::ARRAY:
      return Json::array();
    case dom::element_type::STRING:
      return std::string(std::string_view(value));
    case dom::element_type::INT64: {
      // nlohmann stores numbers without a sign as unsigned.
      const auto number = std::int64_t(value);
      return number < 0 ? Json(number) : Json(static_cast<std::uint64_t>(number));
    }
    case dom::element_type::UINT64:
      return std::uint64_t(value);
    case dom::element_type::DOUBLE:
      return double(value);
    case dom::element_type::BOOL:
      return bool(value);
    case dom::element_type::NULL_VALUE:
      break;
  }
  return nullptr;
}

bool is_within(dom::element value, const Field& field, Fault& fault) {
  const auto count = static_cast<std::int64_t>(size_of(value));
  return count <= field.max || fault.bad(too_many_message(count, field));
}

bool pick(dom::element value, const Field& field, Json& out, Fault& fault) {
  out = hollow(value);
  const bool object = value.is_object();
  if (field.type == FieldType::kObject && object)
    return each_field(value, fault, [&](std::string_view key, dom::element child) {
      const Field* known = field.find(key);
      return known == nullptr || pick(child, *known, out[std::string(key)], fault);
    });
  if (field.type == FieldType::kMap && object)
    return is_within(value, field, fault) &&
           each_field(value, fault, [&](std::string_view key, dom::element child) {
             return pick(child, field.children.front(), out[std::string(key)], fault);
           });
  if (field.type == FieldType::kList && value.is_array())
    return is_within(value, field, fault) &&
           each_item(value, kAnyNumber, fault, [&](dom::element item) {
             return pick(item, field.children.front(), out.emplace_back(), fault);
           });
  return true;
}

bool pick_identity(dom::element metadata, Json& out, Fault& fault) {
  out = hollow(metadata);
  if (!metadata.is_object()) return true;
  return each_field(metadata, fault, [&](std::string_view key, dom::element value) {
    if (std::ranges::find(kIdentity, key) != kIdentity.end()) out[std::string(key)] = hollow(value);
    return true;
  });
}

}  // namespace

Result<Json> pick_object(dom::element object, const Field& spec) {
  Fault fault;
  Json out = Json::object();
  const bool good = each_field(object, fault, [&](std::string_view key, dom::element value) {
    if (key == "metadata") return pick_identity(value, out["metadata"], fault);
    return key != "spec" || pick(value, spec, out["spec"], fault);
  });
  if (!good) return fault.error();
  return out;
}

}  // namespace berth
