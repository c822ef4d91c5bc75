// SPDX-License-Identifier: Apache-2.0
#include "apis/kinds/field_shapes.h"

#include "apis/kinds/mig_layout.h"

namespace berth {

const Field* Field::find(std::string_view child) const {
  for (const Field& field : children) {
    if (field.name == child) return &field;
  }
  return nullptr;
}

namespace shape {
namespace {

constexpr char kDuration[] = "^([0-9]+(\\.[0-9]+)?(h|m|s|ms))+$";

}  // namespace

Field object(std::string name, std::vector<Field> children) {
  return Field{
      .name = std::move(name), .type = FieldType::kObject, .children = std::move(children)};
}

Field list(std::string name, std::int64_t min, std::int64_t max, Field item) {
  return Field{.name = std::move(name),
               .type = FieldType::kList,
               .min = min,
               .max = max,
               .children = {std::move(item)}};
}

Field set_of(Field field) {
  field.set = true;
  return field;
}

Field keyed_by(std::vector<std::string> keys, Field field) {
  field.keys = std::move(keys);
  return field;
}

Field map(std::string name, std::int64_t max, std::string key_pattern, std::string advice,
          Field value) {
  return Field{.name = std::move(name),
               .type = FieldType::kMap,
               .max = max,
               .pattern = std::move(key_pattern),
               .advice = std::move(advice),
               .children = {std::move(value)}};
}

Field text(std::string name, std::int64_t min, std::int64_t max, std::string pattern,
           std::string advice) {
  return Field{.name = std::move(name),
               .type = FieldType::kString,
               .min = min,
               .max = max,
               .pattern = std::move(pattern),
               .advice = std::move(advice)};
}

Field one_of(std::string name, std::vector<std::string> values) {
  return Field{.name = std::move(name), .type = FieldType::kString, .one_of = std::move(values)};
}

Field integer(std::string name, std::int64_t min, std::int64_t max, std::string advice) {
  return Field{.name = std::move(name),
               .type = FieldType::kInteger,
               .min = min,
               .max = max,
               .advice = std::move(advice)};
}

Field boolean(std::string name) {
  return Field{.name = std::move(name), .type = FieldType::kBoolean};
}

Field int_or_percent(std::string name, std::string advice) {
  return Field{.name = std::move(name),
               .type = FieldType::kIntOrPercent,
               .min = 1,
               .max = limits::kMaxNodeBudget,
               .advice = std::move(advice)};
}

Field duration(std::string name, std::int64_t min_seconds) {
  return Field{.name = std::move(name),
               .type = FieldType::kDuration,
               .min = min_seconds,
               .max = limits::kMaxTimeoutHours * 3600,
               .pattern = kDuration,
               .advice = "write it in h, m, s and ms, as 90s, 20m or 1h30m"};
}

Field required(Field field) {
  field.required = true;
  return field;
}

Field with_default(Field field, std::string json) {
  field.default_json = std::move(json);
  return field;
}

Field label_key(std::string name) {
  return text(std::move(name), 1, kMaxLabelKey, kLabelKey, kLabelKeyAdvice);
}

Field label_selector(std::string name) {
  return object(
      std::move(name),
      {map("matchLabels", limits::kMaxSelectorTerms, kLabelKey, kLabelKeyAdvice,
           text("", 0, 63, kLabelValue, kLabelValueAdvice)),
       list("matchExpressions", 0, limits::kMaxSelectorTerms,
            object("", {required(label_key("key")),
                        required(one_of("operator", {"In", "NotIn", "Exists", "DoesNotExist"})),
                        list("values", 0, limits::kMaxSelectorValues,
                             text("", 0, 63, kLabelValue, kLabelValueAdvice))}))});
}

}  // namespace shape
}  // namespace berth
