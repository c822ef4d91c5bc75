// SPDX-License-Identifier: Apache-2.0
#include "controller/sim/validation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>

#include "controller/sim/custom_schema.h"
#include "controller/sim/event_rules.h"
#include "controller/sim/object_fields.h"
#include "controller/sim/object_state.h"
#include "controller/sim/secret_rules.h"
#include "controller/sim/webhook_configurations.h"
#include "controller/sim/writes.h"

namespace berth::sim {

using nlohmann::json;

namespace {

bool is_alnum(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }

// "a-b.c": what most names are, and the first part of a label's key.
bool is_subdomain(std::string_view text) {
  if (text.empty() || text.size() > 253) return false;
  bool letter_before = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool letter = std::islower(static_cast<unsigned char>(c)) != 0 ||
                        std::isdigit(static_cast<unsigned char>(c)) != 0;
    const bool joins = (c == '-' || c == '.') && i > 0 && i + 1 < text.size() &&
                       (c == '-' ? text[i - 1] != '.' : letter_before);
    if (!letter && !joins) return false;
    letter_before = letter;
  }
  return true;
}

// "Some_value.1": a label's value, and the second part of its key.
bool is_label_part(std::string_view text) {
  return !text.empty() && text.size() <= 63 && is_alnum(text.front()) && is_alnum(text.back()) &&
         std::ranges::all_of(
             text, [](char c) { return is_alnum(c) || c == '-' || c == '_' || c == '.'; });
}

bool is_qualified_name(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return is_label_part(text);
  return is_subdomain(text.substr(0, slash)) && is_label_part(text.substr(slash + 1));
}

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

// What is on its way out takes no new finalizer.
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

// Metav1 conditions; those of pods and nodes are older, and may say anything.
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

// The two that the server makes itself are above this.
constexpr std::int64_t kHighestUserPriority = 1'000'000'000;

void check_new_priority_class(const json& object, std::vector<Cause>& causes) {
  const std::string name = text_at(object, {"metadata", "name"});
  if (name.starts_with("system-"))
    causes.push_back(forbidden_field(
        "metadata.name", "priority class names with 'system-' prefix are reserved for system use"));
  if (integer_at(object, {"value"}).value_or(0) > kHighestUserPriority)
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
    const json* containers = find_at(object, {"spec", "containers"});
    if (containers == nullptr || containers->empty())
      causes.push_back(required_value("spec.containers"));
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

// What may change in a pod's spec once it is there.
json fixed_pod_spec(const json& pod) {
  json spec = pod.value("spec", json::object());
  for (const char* open :
       {"activeDeadlineSeconds", "tolerations", "schedulingGates", "terminationGracePeriodSeconds"})
    spec.erase(open);
  if (find_at(pod, {"spec", "schedulingGates"}) != nullptr)
    for (const char* open : {"nodeSelector", "affinity"}) spec.erase(open);
  for (const char* list : {"containers", "initContainers"})
    if (spec.contains(list) && spec[list].is_array())
      for (json& container : spec[list])
        if (container.is_object()) container.erase("image");
  return spec;
}

void check_pod_update(const json& live, const json& next, std::vector<Cause>& causes) {
  const auto before = integer_at(live, {"spec", "activeDeadlineSeconds"});
  const auto after = integer_at(next, {"spec", "activeDeadlineSeconds"});
  if (before && (!after || *after > *before))
    causes.push_back(invalid_value("spec.activeDeadlineSeconds",
                                   after ? std::to_string(*after) : "null",
                                   "must be less than or equal to previous value"));
  // A gate gone lets nothing else change that was fixed before.
  json old = fixed_pod_spec(live);
  json now = fixed_pod_spec(next);
  if (find_at(live, {"spec", "schedulingGates"}) != nullptr)
    for (const char* open : {"nodeSelector", "affinity"}) now.erase(open);
  if (old != now)
    causes.push_back(forbidden_field(
        "spec",
        "pod updates may not change fields other than `spec.containers[*].image`,"
        "`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only "
        "additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be "
        "set to 1 if it was previously negative)"));
}

void check_fixed(const json& live, const json& next, std::initializer_list<const char*> fields,
                 const std::string& prefix, std::vector<Cause>& causes) {
  for (const char* field : fields) {
    const json before = live.value(field, json());
    const json after = next.value(field, json());
    if (before != after) causes.push_back(immutable(prefix + field, to_text(after)));
  }
}

// What a template does not tell of nodes.
json without_directives(json template_) {
  if (!template_.is_object()) return template_;
  for (const char* field : {"labels", "annotations"}) template_["metadata"].erase(field);
  json& spec = template_["spec"];
  for (const char* field : {"nodeSelector", "tolerations", "schedulingGates"}) spec.erase(field);
  if (!spec.contains("affinity")) return template_;
  spec["affinity"].erase("nodeAffinity");
  if (spec["affinity"].empty()) spec.erase("affinity");
  return template_;
}

// What it tells of them may change while its Job is suspended and none of its pods is there.
void check_job_template(const json& live, const json& next, std::vector<Cause>& causes) {
  const bool never_started = find_at(live, {"status", "startTime"}) == nullptr;
  const bool rests = true_at(live, {"spec", "suspend"}) &&
                     (never_started || is_true(live, "Suspended")) &&
                     integer_at(live, {"status", "active"}).value_or(0) == 0;
  const json before = live["spec"].value("template", json());
  const json after = next["spec"].value("template", json());
  if (rests ? without_directives(before) != without_directives(after) : before != after)
    causes.push_back(immutable(rests ? "spec.template.spec" : "spec.template", to_text(after)));
}

void check_change(const ResourceType& type, const json& live, const json& next,
                  std::vector<Cause>& causes) {
  if (type.kind == "Pod") {
    check_pod_update(live, next, causes);
  } else if (type.kind == "Job") {
    check_fixed(live.value("spec", json::object()), next.value("spec", json::object()),
                {"completions", "selector", "completionMode"}, "spec.", causes);
    check_job_template(live, next, causes);
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
  else if (type.kind != "PodDisruptionBudget" && !is_subdomain(name))  // theirs may be anything
    causes.push_back(invalid_value("metadata.name", quote(name),
                                   "a lowercase RFC 1123 subdomain must consist of lower case "
                                   "alphanumeric characters, '-' or '.', and must start and end "
                                   "with an alphanumeric character"));
  check_labels(object, causes);
  check_annotations(object, causes);
  check_content(type, object, causes);
  if (type.kind == "Event") check_new_event(object, causes);
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
  return causes;
}

}  // namespace berth::sim
