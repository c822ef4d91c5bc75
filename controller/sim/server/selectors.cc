// SPDX-License-Identifier: Apache-2.0
#include "controller/sim/server/selectors.h"

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "controller/sim/server/status.h"
#include "controller/sim/world/object_fields.h"

namespace berth::sim {

using nlohmann::json;
using Operator = Requirement::Operator;

namespace {

std::string_view trim(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front())))
    text.remove_prefix(1);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())))
    text.remove_suffix(1);
  return text;
}

// Splits at commas outside parentheses.
std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> parts;
  int depth = 0;
  std::size_t from = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && text[i] == '(') ++depth;
    if (i < text.size() && text[i] == ')') --depth;
    if (i < text.size() && (text[i] != ',' || depth > 0)) continue;
    parts.push_back(trim(text.substr(from, i - from)));
    from = i + 1;
  }
  return parts;
}

bool is_key(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.' || c == '/';
  });
}

[[noreturn]] void refuse(std::string_view term) {
  throw bad_request("unable to parse requirement: " + std::string(term));
}

Requirement set_requirement(std::string_view term, std::string_view key, Operator operator_,
                            std::string_view rest) {
  rest = trim(rest);
  if (rest.size() < 2 || rest.front() != '(' || rest.back() != ')') refuse(term);
  Requirement requirement{std::string(key), operator_, {}};
  for (const std::string_view value : split(rest.substr(1, rest.size() - 2)))
    requirement.values.emplace_back(value);
  return requirement;
}

Requirement parse_requirement(std::string_view term) {
  if (term.starts_with('!')) {
    const std::string_view key = trim(term.substr(1));
    if (!is_key(key)) refuse(term);
    return {std::string(key), Operator::kDoesNotExist, {}};
  }
  const std::size_t end = static_cast<std::size_t>(
      std::ranges::find_if_not(term, [](char c) { return is_key(std::string_view(&c, 1)); }) -
      term.begin());
  const std::string_view key = term.substr(0, end);
  if (!is_key(key)) refuse(term);
  const std::string_view rest = trim(term.substr(end));
  if (rest.empty()) return {std::string(key), Operator::kExists, {}};
  if (rest.starts_with("in ") || rest.starts_with("in("))
    return set_requirement(term, key, Operator::kIn, rest.substr(2));
  if (rest.starts_with("notin ") || rest.starts_with("notin("))
    return set_requirement(term, key, Operator::kNotIn, rest.substr(5));
  Operator operator_ = Operator::kIn;
  std::string_view value;
  if (rest.starts_with("!=")) {
    operator_ = Operator::kNotIn;
    value = trim(rest.substr(2));
  } else if (rest.starts_with("=")) {
    value = trim(rest.substr(rest.starts_with("==") ? 2 : 1));
  } else {
    refuse(term);
  }
  if (!value.empty() && !is_key(value)) refuse(term);
  return {std::string(key), operator_, {std::string(value)}};
}

bool is_selectable(const ResourceType& type, std::string_view path) {
  if (path == "metadata.name") return true;
  if (path == "metadata.namespace") return type.namespaced || !type.group.empty();
  if (type.kind == "Pod")
    return path == "spec.nodeName" || path == "status.phase" || path == "spec.restartPolicy" ||
           path == "spec.schedulerName" || path == "spec.serviceAccountName" ||
           path == "status.podIP" || path == "status.nominatedNodeName" ||
           path == "spec.hostNetwork";
  if (type.kind == "Node") return path == "spec.unschedulable";
  if (type.kind == "Namespace") return path == "status.phase";
  if (type.kind == "Job") return path == "status.successful";
  if (type.kind == "ReplicaSet") return path == "status.replicas";
  if (type.kind == "Event") return path == "reason" || path == "type" || path == "regarding.name";
  return false;
}

FieldRequirement parse_field(const ResourceType& type, std::string_view term) {
  const std::size_t equals = term.find('=');
  if (equals == std::string_view::npos)
    throw bad_request("invalid selector: '" + std::string(term) + "'; can't understand '" +
                      std::string(term) + "'");
  const bool negated = equals > 0 && term[equals - 1] == '!';
  const bool doubled = equals + 1 < term.size() && term[equals + 1] == '=';
  FieldRequirement field;
  field.path = std::string(trim(term.substr(0, negated ? equals - 1 : equals)));
  field.equal = !negated;
  field.value = std::string(trim(term.substr(equals + (doubled ? 2 : 1))));
  if (!is_selectable(type, field.path))
    throw bad_request("field label not supported: " + field.path);
  return field;
}

std::string field_text(const json& object, const std::string& path) {
  const json* at = &object;
  std::size_t from = 0;
  while (from <= path.size()) {
    const std::size_t dot = std::min(path.find('.', from), path.size());
    const auto found = at->is_object() ? at->find(path.substr(from, dot - from)) : at->end();
    if (found == at->end()) return path == "spec.unschedulable" ? "false" : "";
    at = &*found;
    from = dot + 1;
  }
  return at->is_string() ? at->get<std::string>() : at->dump();
}

}  // namespace

bool Requirement::matches(const json* labels) const {
  const json* value = labels == nullptr ? nullptr : find_at(*labels, {key.c_str()});
  const bool among =
      value != nullptr && value->is_string() &&
      std::ranges::find(values, value->get_ref<const std::string&>()) != values.end();
  switch (operator_) {
    case Operator::kIn:
      return among;
    case Operator::kNotIn:
      return !among;
    case Operator::kExists:
      return value != nullptr;
    case Operator::kDoesNotExist:
      return value == nullptr;
  }
  return false;
}

bool Selector::matches(const json& object) const {
  const json* of = find_at(object, {"metadata", "labels"});
  return std::ranges::all_of(labels, [&](const Requirement& one) { return one.matches(of); }) &&
         std::ranges::all_of(fields, [&](const FieldRequirement& field) {
           return (field_text(object, field.path) == field.value) == field.equal;
         });
}

Selector parse_selector(const ResourceType& type, const std::string& labels,
                        const std::string& fields) {
  Selector selector;
  if (!labels.empty())
    for (const std::string_view term : split(labels))
      selector.labels.push_back(parse_requirement(term));
  if (!fields.empty())
    for (const std::string_view term : split(fields))
      selector.fields.push_back(parse_field(type, term));
  return selector;
}

bool label_selector_matches(const json* selector, const json& object) {
  if (selector == nullptr || !selector->is_object()) return false;
  const json* labels = find_at(object, {"metadata", "labels"});
  if (const json* wanted = find_at(*selector, {"matchLabels"}); wanted != nullptr)
    for (const auto& [key, value] : wanted->items()) {
      const Requirement requirement{
          key, Operator::kIn, {value.is_string() ? value.get<std::string>() : value.dump()}};
      if (!requirement.matches(labels)) return false;
    }
  const json* expressions = find_at(*selector, {"matchExpressions"});
  if (expressions == nullptr || !expressions->is_array()) return true;
  for (const json& expression : *expressions) {
    Requirement requirement;
    requirement.key = text_at(expression, {"key"});
    const std::string operator_ = text_at(expression, {"operator"});
    if (operator_ == "In") requirement.operator_ = Operator::kIn;
    if (operator_ == "NotIn") requirement.operator_ = Operator::kNotIn;
    if (operator_ == "DoesNotExist") requirement.operator_ = Operator::kDoesNotExist;
    if (const json* values = find_at(expression, {"values"}); values != nullptr)
      for (const json& value : *values)
        if (value.is_string()) requirement.values.push_back(value.get<std::string>());
    if (!requirement.matches(labels)) return false;
  }
  return true;
}

}  // namespace berth::sim
