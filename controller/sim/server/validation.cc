// SPDX-License-Identifier: Apache-2.0
#include "controller/sim/server/validation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>
#include <set>

#include "controller/sim/server/custom_schema.h"
#include "controller/sim/server/event_rules.h"
#include "controller/sim/server/job_rules.h"
#include "controller/sim/server/name_rules.h"
#include "controller/sim/server/pod_rules.h"
#include "controller/sim/server/priority_admission.h"
#include "controller/sim/server/quota_rules.h"
#include "controller/sim/server/secret_rules.h"
#include "controller/sim/server/webhook_configurations.h"
#include "controller/sim/server/writes.h"
#include "controller/sim/world/object_fields.h"

namespace berth::sim {

using nlohmann::json;

namespace {

void check_labels(const json& object, std::vector<Cause>& causes) {
  const json* labels = find_at(object, {"metadata", "labels"});
  if (labels == nullptr || !labels->is_object()) return;
  for (const auto& [key, value] : labels->items()) {
    if (!is_qualified_name(key))
      causes.push_back(invalid_value("metadata.labels", quote(key),
                                     "name part must consist of alphanumeric characters, '-', '_' "
                                     "or '.', and must start and end with one"));
    const std::string text = value.is_string() ? value.get<std::string>() : "";
    if (!text.empty() && !is_label_part(text))
      causes.push_back(invalid_value("metadata.labels", quote(text),
                                     "a valid label must be an empty string or consist of "
                                     "alphanumeric characters, '-', '_' or '.'"));
  }
}

void check_annotations(const json& object, std::vector<Cause>& causes) {
  const json* annotations = find_at(object, {"metadata", "annotations"});
  if (annotations == nullptr || !annotations->is_object()) return;
  for (const auto& [key, value] : annotations->items()) {
    std::string lower = key;
    for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    if (!is_qualified_name(lower))
      causes.push_back(invalid_value("metadata.annotations", quote(key), "no qualified name"));
  }
}

// A terminating object can't get new finalizers.
void check_finalizers(const json& live, const json& next, std::vector<Cause>& causes) {
  if (text_at(live, {"metadata", "deletionTimestamp"}).empty()) return;
  const json* finalizers = find_at(next, {"metadata", "finalizers"});
  if (finalizers == nullptr || !finalizers->is_array()) return;
  for (const json& finalizer : *finalizers)
    if (finalizer.is_string() &&
        !holds_text(live, {"metadata", "finalizers"}, finalizer.get<std::string>()))
      causes.push_back(forbidden_field(
          "metadata.finalizers",
          fmt::format("no new finalizers can be added if the object is being deleted, found new "
                      "finalizers []string{{{}}}",
                      to_text(finalizer))));
}

void check_taints(const json& node, std::vector<Cause>& causes) {
  const json* taints = find_at(node, {"spec", "taints"});
  if (taints == nullptr || !taints->is_array()) return;
  std::set<std::pair<std::string, std::string>> seen;
  for (std::size_t i = 0; i < taints->size(); ++i) {
    const json& taint = (*taints)[i];
    if (!seen.emplace(text_at(taint, {"key"}), text_at(taint, {"effect"})).second)
      causes.push_back({"FieldValueDuplicate",
                        fmt::format("Duplicate value: {}: taints must be unique by key and effect "
                                    "pair",
                                    to_text(taint)),
                        fmt::format("metadata.taints[{}]", i)});
  }
}

// Checks metav1 conditions. Conditions of pods and nodes are older and have no rules.
void check_conditions(const json& object, std::vector<Cause>& causes) {
  const json* conditions = find_at(object, {"status", "conditions"});
  if (conditions == nullptr || !conditions->is_array()) return;
  for (std::size_t i = 0; i < conditions->size(); ++i) {
    const std::string status = text_at((*conditions)[i], {"status"});
    if (status != "True" && status != "False" && status != "Unknown")
      causes.push_back({"FieldValueNotSupported",
                        fmt::format("Unsupported value: {}", quote(status)),
                        fmt::format("status.conditions[{}].status", i)});
  }
}

// The server's own two classes have higher values.
constexpr std::int64_t kHighestUserPriority = 1'000'000'000;

void check_new_priority_class(const json& object, std::vector<Cause>& causes) {
  const std::string name = text_at(object, {"metadata", "name"});
  if (name.starts_with("system-") && !is_system_class(name))
    causes.push_back(forbidden_field(
        "metadata.name", "priority class names with 'system-' prefix are reserved for system use"));
  if (!name.starts_with("system-") &&
      integer_at(object, {"value"}).value_or(0) > kHighestUserPriority)
    causes.push_back(forbidden_field(
        "value", fmt::format("maximum allowed value of a user defined priority is {}",
                             kHighestUserPriority)));
  const std::string policy = text_at(object, {"preemptionPolicy"});
  if (policy != "Never" && policy != "PreemptLowerPriority")
    causes.push_back({"FieldValueNotSupported", fmt::format("Unsupported value: {}", quote(policy)),
                      "preemptionPolicy"});
}

void check_content(const ResourceType& type, const json& object, std::vector<Cause>& causes) {
  if (type.kind == "Node") {
    check_taints(object, causes);
  } else if (type.kind == "Pod") {
    check_pod(object, causes);
  } else if (type.kind == "Job") {
    check_job(object, causes);
  } else if (type.kind == "ResourceQuota") {
    check_quota(object, causes);
  } else if (type.kind == "PodDisruptionBudget") {
    const json* spec = find_at(object, {"spec"});
    if (spec != nullptr && spec->contains("minAvailable") && spec->contains("maxUnavailable"))
      causes.push_back(invalid_value("spec", to_text(*spec),
                                     "minAvailable and maxUnavailable cannot be both set"));
    check_conditions(object, causes);
  } else if (type.kind == "Lease") {
    if (integer_at(object, {"spec", "leaseDurationSeconds"}).value_or(1) <= 0)
      causes.push_back(invalid_value("spec.leaseDurationSeconds",
                                     to_text(object["spec"]["leaseDurationSeconds"]),
                                     "must be greater than 0"));
  } else if (type.kind == "Secret") {
    check_secret(object, causes);
  } else if (configures_webhooks(type)) {
    check_webhooks(object, causes);
  } else if (is_custom(type)) {
    check_custom_schema(type, object, causes);
  }
}

void check_fixed(const json& live, const json& next, std::initializer_list<const char*> fields,
                 const std::string& prefix, std::vector<Cause>& causes) {
  for (const char* field : fields) {
    const json before = live.value(field, json());
    const json after = next.value(field, json());
    if (before != after) causes.push_back(immutable(prefix + field, to_text(after)));
  }
}

void check_change(const ResourceType& type, const json& live, const json& next,
                  std::vector<Cause>& causes) {
  if (type.kind == "Pod") {
    check_pod_change(live, next, causes);
  } else if (type.kind == "Job") {
    check_job_change(live, next, causes);
  } else if (type.kind == "PriorityClass") {
    if (integer_at(live, {"value"}) != integer_at(next, {"value"}))
      causes.push_back(forbidden_field("value", "may not be changed in an update."));
    check_fixed(live, next, {"preemptionPolicy"}, "", causes);
  } else if (type.kind == "Secret") {
    check_secret_change(live, next, causes);
  } else if (type.kind == "Event") {
    check_event_change(live, next, causes);
  }
}

}  // namespace

std::vector<Cause> validate_create(const ResourceType& type, const json& object) {
  std::vector<Cause> causes;
  const std::string name = text_at(object, {"metadata", "name"});
  if (name.empty())
    causes.push_back(required_value("metadata.name", "name or generateName is required"));
  // their names are not restricted
  else if (type.kind != "PodDisruptionBudget" && !is_subdomain(name))
    causes.push_back(invalid_value("metadata.name", quote(name),
                                   "a lowercase RFC 1123 subdomain must consist of lower case "
                                   "alphanumeric characters, '-' or '.', and must start and end "
                                   "with an alphanumeric character"));
  check_labels(object, causes);
  check_annotations(object, causes);
  check_content(type, object, causes);
  if (type.kind == "Event") check_new_event(object, causes);
  if (type.kind == "Pod") check_new_pod(object, causes);
  if (type.kind == "Job") check_new_job(object, causes);
  if (type.kind == "PriorityClass") check_new_priority_class(object, causes);
  return causes;
}

std::vector<Cause> validate_update(const ResourceType& type, const json& live, const json& next,
                                   const std::string& subresource) {
  std::vector<Cause> causes;
  check_labels(next, causes);
  check_annotations(next, causes);
  check_finalizers(live, next, causes);
  check_content(type, next, causes);
  if (subresource.empty()) check_change(type, live, next, causes);
  if (!subresource.empty() && type.kind == "Job") check_job_status(live, next, causes);
  return causes;
}

}  // namespace berth::sim
