// SPDX-License-Identifier: Apache-2.0
#include "controller/sim/server/wrong_types.h"

#include <cstring>
#include <nlohmann/json.hpp>
#include <string_view>

#include "apis/base/base64.h"
#include "controller/sim/server/quota_rules.h"
#include "controller/sim/server/webhook_configurations.h"
#include "controller/sim/world/object_fields.h"

namespace berth::sim {

using nlohmann::json;

namespace {

enum class Shape { kObject, kTexts, kBytes, kList, kText, kBoolean, kInteger };

struct Known {
  std::string_view kind;  // empty: every kind
  const char* part;       // "metadata", "spec", "status"; empty: the object itself
  const char* field;      // empty: the part itself
  Shape shape;
};

constexpr Known kKnown[] = {
    {"", "metadata", "", Shape::kObject},
    {"", "metadata", "name", Shape::kText},
    {"", "metadata", "namespace", Shape::kText},
    {"", "metadata", "uid", Shape::kText},
    {"", "metadata", "resourceVersion", Shape::kText},
    {"", "metadata", "labels", Shape::kTexts},
    {"", "metadata", "annotations", Shape::kTexts},
    {"", "metadata", "finalizers", Shape::kList},
    {"", "metadata", "ownerReferences", Shape::kList},
    {"Node", "spec", "", Shape::kObject},
    {"Node", "spec", "unschedulable", Shape::kBoolean},
    {"Node", "spec", "taints", Shape::kList},
    {"Node", "status", "", Shape::kObject},
    {"Node", "status", "conditions", Shape::kList},
    {"Pod", "spec", "", Shape::kObject},
    {"Pod", "spec", "nodeName", Shape::kText},
    {"Pod", "spec", "containers", Shape::kList},
    {"Pod", "spec", "schedulingGates", Shape::kList},
    {"Pod", "spec", "tolerations", Shape::kList},
    {"Pod", "spec", "nodeSelector", Shape::kTexts},
    {"Pod", "status", "", Shape::kObject},
    {"Pod", "status", "phase", Shape::kText},
    {"Pod", "status", "conditions", Shape::kList},
    {"ConfigMap", "", "data", Shape::kTexts},
    {"Secret", "", "data", Shape::kBytes},
    {"Secret", "", "type", Shape::kText},
    {"Secret", "", "immutable", Shape::kBoolean},
    {"PriorityClass", "", "value", Shape::kInteger},
    {"PriorityClass", "", "globalDefault", Shape::kBoolean},
    {"PriorityClass", "", "description", Shape::kText},
    {"PriorityClass", "", "preemptionPolicy", Shape::kText},
    {"Lease", "spec", "", Shape::kObject},
    {"Lease", "spec", "holderIdentity", Shape::kText},
    {"Lease", "spec", "leaseDurationSeconds", Shape::kInteger},
    {"Lease", "spec", "leaseTransitions", Shape::kInteger},
    {"Job", "spec", "", Shape::kObject},
    {"Job", "spec", "suspend", Shape::kBoolean},
    {"Job", "spec", "parallelism", Shape::kInteger},
    {"Job", "spec", "completions", Shape::kInteger},
    {"ResourceQuota", "spec", "", Shape::kObject},
    {"ResourceQuota", "status", "", Shape::kObject},
    {"PodDisruptionBudget", "spec", "", Shape::kObject},
    {"PodDisruptionBudget", "status", "", Shape::kObject},
    {"PodDisruptionBudget", "status", "disruptionsAllowed", Shape::kInteger},
};

bool all_texts(const json& value) {
  if (!value.is_object()) return false;
  for (const json& entry : value)
    if (!entry.is_string() && !entry.is_null()) return false;
  return true;
}

bool all_base64(const json& value) {
  if (!all_texts(value)) return false;
  for (const json& entry : value)
    if (!entry.is_null() && !is_base64(entry)) return false;
  return true;
}

bool fits(const json& value, Shape shape) {
  switch (shape) {
    case Shape::kObject:
      return value.is_object();
    case Shape::kTexts:
      return all_texts(value);
    case Shape::kBytes:
      return all_base64(value);
    case Shape::kList:
      return value.is_array();
    case Shape::kText:
      return value.is_string();
    case Shape::kBoolean:
      return value.is_boolean();
    case Shape::kInteger:
      return value.is_number_integer();
  }
  return false;
}

// null counts as absent.
const json* member(const json& object, const char* name) {
  const json* found = *name == '\0' ? &object : find_at(object, {name});
  return found == nullptr || found->is_null() ? nullptr : found;
}

}  // namespace

bool is_base64(const json& value) {
  const auto* text = value.get_ptr<const std::string*>();
  return text != nullptr && text->find_first_of(" \t") == text->npos && decode_base64(*text);
}

std::string find_wrong_type(const ResourceType& type, const json& object) {
  const char* name = "";
  const json* part = &object;  // the part with that name
  for (const Known& known : kKnown) {
    if (!known.kind.empty() && known.kind != type.kind) continue;
    if (std::strcmp(known.part, name) != 0) part = member(object, name = known.part);
    const json* value = part != nullptr && part->is_object() ? member(*part, known.field) : part;
    if (value == nullptr || fits(*value, known.shape)) continue;
    const std::string dot = *known.part != '\0' && *known.field != '\0' ? "." : "";
    return known.part + dot + known.field;
  }
  if (type.kind == "ResourceQuota") return find_wrong_amounts(object);
  return configures_webhooks(type) ? find_wrong_webhook(object) : "";
}

}  // namespace berth::sim
