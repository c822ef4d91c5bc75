// SPDX-License-Identifier: Apache-2.0
#include "controller/sim/world/node_fit.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>

#include "controller/sim/world/object_fields.h"

namespace berth::sim {
namespace {

using nlohmann::json;

const json& items(const json& object, FieldPath path) {
  static const json kNone = json::array();
  const json* found = find_at(object, path);
  return found != nullptr && found->is_array() ? *found : kNone;
}
const json& members(const json& object, FieldPath path) {
  static const json kNone = json::object();
  const json* found = find_at(object, path);
  return found != nullptr && found->is_object() ? *found : kNone;
}

std::optional<std::int64_t> whole_number(const std::string& text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// One requirement of a selector or a node affinity, for a value that may be missing.
bool holds(const json& requirement, const std::optional<std::string>& value) {
  const std::string op = text_at(requirement, {"operator"});
  if (op == "Exists") return value.has_value();
  if (op == "DoesNotExist") return !value.has_value();
  const json& values = items(requirement, {"values"});
  const bool listed = value && std::find(values.begin(), values.end(), *value) != values.end();
  if (op == "In") return listed;
  if (op == "NotIn") return !listed;
  if (!value || values.size() != 1 || !values[0].is_string()) return false;
  const auto left = whole_number(*value), right = whole_number(values[0].get<std::string>());
  if (!left || !right) return false;
  return op == "Gt" ? *left > *right : op == "Lt" && *left < *right;
}

std::optional<std::string> label(const json& object, const std::string& key) {
  const json& labels = members(object, {"metadata", "labels"});
  const auto found = labels.find(key);
  if (found == labels.end() || !found->is_string()) return std::nullopt;
  return found->get<std::string>();
}

bool labels_include(const json& object, const json& wanted) {
  for (const auto& [key, value] : wanted.items())
    if (!value.is_string() || label(object, key) != value.get<std::string>()) return false;
  return true;
}

bool labels_hold(const json& object, const json& requirements) {
  return std::ranges::all_of(requirements, [&](const json& requirement) {
    return holds(requirement, label(object, text_at(requirement, {"key"})));
  });
}

// An empty term selects no node.
bool term_selects(const json& term, const json& node) {
  const json& expressions = items(term, {"matchExpressions"});
  const json& fields = items(term, {"matchFields"});
  if (expressions.empty() && fields.empty()) return false;
  const std::string name = text_at(node, {"metadata", "name"});
  return labels_hold(node, expressions) && std::ranges::all_of(fields, [&](const json& field) {
           return text_at(field, {"key"}) == "metadata.name" && holds(field, name);
         });
}

Amounts amounts(const json& list) {
  Amounts read;
  for (const auto& [name, value] : list.items()) {
    const auto parsed =
        Quantity::parse(value.is_string() ? value.get<std::string>() : value.dump());
    if (parsed.has_value()) read[name] = *parsed;
  }
  return read;
}

// A limit without a request counts as the request.
Amounts asked_by(const json& container) {
  Amounts asked = amounts(members(container, {"resources", "requests"}));
  asked.merge(amounts(members(container, {"resources", "limits"})));
  return asked;
}

void raise(Amounts& to, const Amounts& floor) {
  for (const auto& [name, amount] : floor) to[name] = std::max(to[name], amount);
}

}  // namespace

bool selects_node(const json& pod_spec, const json& node) {
  if (!labels_include(node, members(pod_spec, {"nodeSelector"}))) return false;
  const json* required = find_at(
      pod_spec, {"affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution"});
  if (required == nullptr) return true;
  return std::ranges::any_of(items(*required, {"nodeSelectorTerms"}),
                             [&](const json& term) { return term_selects(term, node); });
}

bool tolerates(const json& toleration, const json& taint) {
  const std::string effect = text_at(toleration, {"effect"});
  if (!effect.empty() && effect != text_at(taint, {"effect"})) return false;
  const std::string key = text_at(toleration, {"key"});
  if (!key.empty() && key != text_at(taint, {"key"})) return false;
  if (text_at(toleration, {"operator"}) == "Exists") return true;
  return !key.empty() && text_at(toleration, {"value"}) == text_at(taint, {"value"});
}

const json* find_untolerated(const json& pod_spec, const json& node,
                             std::initializer_list<std::string_view> effects) {
  const json& tolerations = items(pod_spec, {"tolerations"});
  for (const json& taint : items(node, {"spec", "taints"})) {
    if (std::ranges::find(effects, text_at(taint, {"effect"})) == effects.end()) continue;
    if (std::ranges::none_of(tolerations, [&](const json& t) { return tolerates(t, taint); }))
      return &taint;
  }
  return nullptr;
}

bool is_cordoned_for(const json& pod_spec, const json& node) {
  if (!true_at(node, {"spec", "unschedulable"})) return false;
  const json taint = {{"key", "node.kubernetes.io/unschedulable"}, {"effect", "NoSchedule"}};
  return std::ranges::none_of(items(pod_spec, {"tolerations"}),
                              [&](const json& t) { return tolerates(t, taint); });
}

bool is_extended(std::string_view resource) {
  return resource.find('/') != std::string_view::npos &&
         resource.find("kubernetes.io/") == std::string_view::npos;
}

Amounts requests_of(const json& pod) {
  Amounts total;
  for (const json& container : items(pod, {"spec", "containers"})) add(total, asked_by(container));
  Amounts sidecars, peak;
  for (const json& init : items(pod, {"spec", "initContainers"})) {
    Amounts asked = asked_by(init);
    if (text_at(init, {"restartPolicy"}) == "Always") {
      add(total, asked);
      add(sidecars, asked);
      raise(peak, sidecars);
    } else {
      add(asked, sidecars);
      raise(peak, asked);
    }
  }
  raise(total, peak);
  add(total, amounts(members(pod, {"spec", "overhead"})));
  return total;
}

Amounts allocatable_of(const json& node) {
  return amounts(members(node, {"status", "allocatable"}));
}

void add(Amounts& to, const Amounts& more) {
  for (const auto& [name, amount] : more) to[name] += amount;
}
void subtract(Amounts& from, const Amounts& less) {
  for (const auto& [name, amount] : less)
    if (const auto found = from.find(name); found != from.end()) found->second -= amount;
}

std::string find_insufficient(const Amounts& requests, const Amounts& free) {
  for (const auto& [name, amount] : requests) {
    if (amount.is_zero()) continue;
    const auto found = free.find(name);
    if (found == free.end() ? is_extended(name) : found->second < amount) return name;
  }
  return "";
}

}  // namespace berth::sim
