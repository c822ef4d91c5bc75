// SPDX-License-Identifier: Apache-2.0
#include "apis/codec/json_cursor.h"

#include <fmt/format.h>

#include <limits>
#include <nlohmann/json.hpp>

namespace berth {
namespace {

std::string describe_value(const nlohmann::json& value) {
  if (value.is_object()) return "an object";
  if (value.is_array()) return "a list";
  if (value.is_boolean()) return value.get<bool>() ? "true" : "false";
  if (value.is_string()) {
    const auto& text = value.get_ref<const std::string&>();
    return text.size() <= 40 ? fmt::format("the string \"{}\"", text) : "a string";
  }
  if (value.is_number_float()) return fmt::format("the number {}", value.get<double>());
  if (value.is_number_unsigned()) return fmt::format("the number {}", value.get<std::uint64_t>());
  if (value.is_number()) return fmt::format("the number {}", value.get<std::int64_t>());
  return "null";
}

}  // namespace

bool JsonCursor::present() const { return value_ != nullptr && !value_->is_null(); }

JsonCursor JsonCursor::operator[](std::string_view key) const {
  JsonCursor child(nullptr, *error_);
  child.path_ = path_;
  if (!path_.empty()) child.path_ += '.';
  child.path_ += key;
  if (!present()) return child;
  if (!value_->is_object()) {
    expect("an object");
    return child;
  }
  auto it = value_->find(key);
  if (it != value_->end()) child.value_ = &*it;
  return child;
}

std::vector<JsonCursor> JsonCursor::items() const {
  std::vector<JsonCursor> items;
  if (!present()) return items;
  if (!value_->is_array()) {
    expect("a list");
    return items;
  }
  items.reserve(value_->size());
  for (const nlohmann::json& item : *value_) {
    items.emplace_back(&item, *error_);
    items.back().path_ = path_ + "[" + std::to_string(items.size() - 1) + "]";
  }
  return items;
}

std::vector<std::pair<std::string, JsonCursor>> JsonCursor::fields() const {
  std::vector<std::pair<std::string, JsonCursor>> fields;
  if (!present()) return fields;
  if (!value_->is_object()) {
    expect("an object");
    return fields;
  }
  for (auto it = value_->begin(); it != value_->end(); ++it) {
    fields.emplace_back(it.key(), (*this)[it.key()]);
  }
  return fields;
}

void JsonCursor::fail(std::string_view message) const { fail_at(path_, std::string(message)); }

void JsonCursor::fail_at(std::string path, std::string message) const {
  if (!error_->has_value()) *error_ = decode_error(std::move(path), std::move(message));
}

void JsonCursor::expect(std::string_view expected) const {
  fail(fmt::format("must be {}, is {}", expected, describe_value(*value_)));
}

void JsonCursor::read(std::string& out) const {
  if (!present()) return;
  if (value_->is_string())
    out = value_->get_ref<const std::string&>();
  else
    expect("a string");
}

void JsonCursor::read(Text& out) const {
  std::string text;
  read(text);
  if (present()) out = text;
}

void JsonCursor::read(bool& out) const {
  if (!present()) return;
  if (value_->is_boolean())
    out = value_->get<bool>();
  else
    expect("true or false");
}

template <class T>
void JsonCursor::read_integer(T& out) const {
  if (!present()) return;
  if (!value_->is_number_integer()) return expect("a whole number");
  // Reading a number_unsigned above int64's maximum as signed gives a negative number, so check
  // first.
  bool huge = value_->is_number_unsigned() &&
              value_->get<std::uint64_t>() >
                  static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  std::int64_t wide = huge ? 0 : value_->get<std::int64_t>();
  if (huge || wide < std::numeric_limits<T>::min() || wide > std::numeric_limits<T>::max()) {
    return fail(fmt::format("{} is out of range", describe_value(*value_)));
  }
  out = static_cast<T>(wide);
}

void JsonCursor::read(std::int32_t& out) const { read_integer(out); }
void JsonCursor::read(std::int64_t& out) const { read_integer(out); }

void JsonCursor::read(std::optional<std::int64_t>& out) const {
  if (!present()) return;
  std::int64_t value = 0;
  read(value);
  out = value;
}

void JsonCursor::read(Time& out) const {
  std::optional<Time> time;
  read(time);
  if (time) out = *time;
}

void JsonCursor::read(std::optional<Time>& out) const {
  std::string text;
  read(text);
  if (text.empty()) return;
  Result<Time> time = parse_time(text);
  if (time)
    out = *time;
  else
    fail(time.error().message);
}

void JsonCursor::read(Duration& out) const {
  if (!present()) return;
  std::string text;
  read(text);
  if (!value_->is_string()) return;
  Result<Duration> duration = parse_duration(text);
  if (duration)
    out = *duration;
  else
    fail(duration.error().message);
}

void JsonCursor::read(IntOrPercent& out) const {
  if (!present()) return;
  if (value_->is_number()) {
    std::int64_t number = 0;
    read(number);
    if (number < 0 || number > std::numeric_limits<std::int32_t>::max()) {
      return fail(fmt::format("{} is out of range", number));
    }
    out = IntOrPercent{number, false};
    return;
  }
  if (!value_->is_string()) return expect("a number or a percentage");
  Result<IntOrPercent> parsed = IntOrPercent::parse(value_->get_ref<const std::string&>());
  if (parsed)
    out = *parsed;
  else
    fail(parsed.error().message);
}

void JsonCursor::read(StringMap& out) const {
  for (const auto& [key, field] : fields()) field.read(out[key]);
}

void JsonCursor::read(Quantity& out) const {
  if (!present()) return;
  // A quantity is a string or a bare number.
  if (!value_->is_string() && !value_->is_number()) return expect("a quantity");
  const Result<Quantity> quantity =
      Quantity::parse(value_->is_string() ? value_->get_ref<const std::string&>() : value_->dump());
  if (quantity)
    out = *quantity;
  else
    fail(quantity.error().message);
}

void JsonCursor::read(ResourceList& out) const {
  for (const auto& [key, field] : fields()) field.read(out[key]);
}

void JsonCursor::read(std::map<std::string, std::string>& out) const {
  for (const auto& [key, field] : fields()) field.read(out[key]);
}

void JsonCursor::read(std::map<std::string, std::int64_t>& out) const {
  for (const auto& [key, field] : fields()) field.read(out[key]);
}

template <class T>
void JsonCursor::read_list(std::vector<T>& out) const {
  if (!present()) return;
  out.clear();
  for (const JsonCursor& item : items()) item.read(out.emplace_back());
}

void JsonCursor::read(std::vector<Text>& out) const { read_list(out); }
void JsonCursor::read(std::vector<std::string>& out) const { read_list(out); }
void JsonCursor::read(std::vector<std::int32_t>& out) const { read_list(out); }

void JsonCursor::read(std::vector<Toleration>& out) const {
  for (const JsonCursor& item : items()) {
    Toleration& toleration = out.emplace_back();
    item["key"].read(toleration.key);
    item["operator"].read(toleration.op);
    item["value"].read(toleration.value);
    item["effect"].read(toleration.effect);
  }
}

void JsonCursor::read(LabelSelector& out) const {
  (*this)["matchLabels"].read(out.match_labels);
  for (const JsonCursor& item : (*this)["matchExpressions"].items()) {
    SelectorRequirement& requirement = out.match_expressions.emplace_back();
    item["key"].read(requirement.key);
    item["values"].read(requirement.values);
    std::string op;
    item["operator"].read(op);
    // The server refuses errors such as NotIn without values. This refuses operators that label
    // selectors do not have.
    const std::optional<SelectorOperator> known = selector_operator(op);
    if (known && *known != SelectorOperator::kGt && *known != SelectorOperator::kLt)
      requirement.op = *known;
    else
      item["operator"].fail("must be In, NotIn, Exists or DoesNotExist");
  }
}

void JsonCursor::read(std::optional<LabelSelector>& out) const {
  if (present()) read(out.emplace());
}

void JsonCursor::read(ObjectMeta& out) const {
  (*this)["name"].read(out.name);
  (*this)["namespace"].read(out.namespace_);
  (*this)["uid"].read(out.uid);
  (*this)["resourceVersion"].read(out.resource_version);
  (*this)["generation"].read(out.generation);
  (*this)["creationTimestamp"].read(out.creation_timestamp);
  (*this)["deletionTimestamp"].read(out.deletion_timestamp);
  (*this)["labels"].read(out.labels);
  (*this)["annotations"].read(out.annotations);
  (*this)["finalizers"].read(out.finalizers);
  for (const JsonCursor& item : (*this)["ownerReferences"].items()) {
    OwnerReference& owner = out.owner_references.emplace_back();
    item["apiVersion"].read(owner.api_version);
    item["kind"].read(owner.kind);
    item["name"].read(owner.name);
    item["uid"].read(owner.uid);
    item["controller"].read(owner.controller);
  }
}

}  // namespace berth
