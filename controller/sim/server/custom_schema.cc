// SPDX-License-Identifier: Apache-2.0
#include "controller/sim/server/custom_schema.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

#include "apis/kinds/gpu_queue_fields.h"
#include "apis/kinds/layout_fields.h"
#include "apis/kinds/layout_rules.h"
#include "apis/kinds/policy_fields.h"
#include "controller/sim/world/object_fields.h"

namespace berth::sim {

using nlohmann::json;

namespace {

bool has_type(const json& value, FieldType type) {
  switch (type) {
    case FieldType::kObject:
    case FieldType::kMap:
      return value.is_object();
    case FieldType::kList:
      return value.is_array();
    case FieldType::kInteger:
      return value.is_number_integer();
    case FieldType::kBoolean:
      return value.is_boolean();
    case FieldType::kIntOrPercent:
      return value.is_number_integer() || value.is_string();
    case FieldType::kString:
    case FieldType::kDuration:
      return value.is_string();
  }
  return false;
}

void check(const json& value, const Field& field, const std::string& path,
           std::vector<Cause>& causes);

void check_members(const json& value, const Field& field, const std::string& path,
                   std::vector<Cause>& causes) {
  for (const Field& child : field.children) {
    const auto found = value.find(child.name);
    const std::string at = path + "." + child.name;
    if (found != value.end() && !found->is_null())
      check(*found, child, at, causes);
    else if (child.required)
      causes.push_back(required_value(at));
  }
}

void check(const json& value, const Field& field, const std::string& path,
           std::vector<Cause>& causes) {
  if (!has_type(value, field.type)) {
    causes.push_back({"FieldValueTypeInvalid",
                      fmt::format("Invalid value: {}: {} in body is of another type",
                                  quote(value.type_name()), path),
                      path});
  } else if (field.type == FieldType::kObject) {
    check_members(value, field, path, causes);
  } else if (field.type == FieldType::kMap || field.type == FieldType::kList) {
    std::size_t i = 0;
    for (const auto& [key, entry] : value.items())
      check(entry, field.children[0],
            field.type == FieldType::kMap ? path + "." + key : fmt::format("{}[{}]", path, i++),
            causes);
  } else if (field.type == FieldType::kInteger &&
             (value.get<std::int64_t>() < field.min || value.get<std::int64_t>() > field.max)) {
    causes.push_back(invalid_value(path, to_text(value), "is out of bounds"));
  } else if (!field.one_of.empty() &&
             std::ranges::find(field.one_of, value.get<std::string>()) == field.one_of.end()) {
    causes.push_back(
        {"FieldValueNotSupported", fmt::format("Unsupported value: {}", to_text(value)), path});
  }
}

// Checks one CEL rule: an apply breaks it if it omits a field that it owned.
void check_rules(const ResourceType& type, const json& spec, std::vector<Cause>& causes) {
  if (type.kind != "MIGLayout") return;
  const json* products = find_at(spec, {"productSelector"});
  if (!spec.contains("nodeSelector") && (products == nullptr || products->empty()))
    causes.push_back(required_value("spec.nodeSelector", rules::kNoSelector));
}

}  // namespace

const Field& custom_spec_field(const ResourceType& type) {
  if (type.kind == "MIGLayout") return layout_spec_field();
  return type.kind == "GPUQueue" ? queue_spec_field() : policy_spec_field();
}

void check_custom_schema(const ResourceType& type, const json& object, std::vector<Cause>& causes) {
  std::vector<Cause> found;
  const json* spec = find_at(object, {"spec"});
  if (spec == nullptr)
    found.push_back(required_value("spec"));
  else
    check(*spec, custom_spec_field(type), "spec", found);
  // The server checks the CEL rules also if values are out of bounds. After other errors it reports
  // that it has not checked them.
  const bool looks = std::ranges::all_of(
      found, [](const Cause& cause) { return cause.reason == "FieldValueInvalid"; });
  std::ranges::move(found, std::back_inserter(causes));
  if (looks)
    check_rules(type, *spec, causes);
  else
    causes.push_back(invalid_value("<nil>", "null",
                                   "some validation rules were not checked because the object was "
                                   "invalid; correct the existing errors to complete validation"));
}

}  // namespace berth::sim
