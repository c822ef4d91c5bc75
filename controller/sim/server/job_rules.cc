// SPDX-License-Identifier: Apache-2.0
#include "controller/sim/server/job_rules.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>

#include "controller/sim/server/name_rules.h"
#include "controller/sim/world/object_fields.h"
#include "controller/sim/world/object_state.h"

namespace berth::sim {
namespace {

using nlohmann::json;

void check_counts(const json& job, std::vector<Cause>& causes) {
  for (const char* field : {"parallelism", "completions", "activeDeadlineSeconds", "backoffLimit"})
    if (const auto count = integer_at(job, {"spec", field}); count && *count < 0)
      causes.push_back(invalid_value(std::string("spec.") + field, std::to_string(*count),
                                     "must be greater than or equal to 0"));
}

// Only labels; no program here uses expressions.
void check_selector(const json& job, std::vector<Cause>& causes) {
  const json* selector = find_at(job, {"spec", "selector", "matchLabels"});
  if (selector == nullptr) return;
  for (const auto& [key, value] : selector->items()) {
    const json* label = find_at(job, {"spec", "template", "metadata", "labels", key.c_str()});
    if (label != nullptr && *label == value) continue;
    causes.push_back(invalid_value("spec.template.metadata.labels", "null",
                                   "`selector` does not match template `labels`"));
    return;
  }
}

void check_completions(const json& live, const json& next, std::vector<Cause>& causes) {
  if (!differ(live, next, {"spec", "completions"})) return;
  const auto completions = integer_at(next, {"spec", "completions"});
  const bool indexed = text_at(next, {"spec", "completionMode"}) == "Indexed";
  const std::string text = completions ? std::to_string(*completions) : "null";
  if (!indexed)
    causes.push_back(immutable("spec.completions", text));
  else if (completions && completions != integer_at(next, {"spec", "parallelism"}))
    causes.push_back(invalid_value("spec.completions", text,
                                   "can only be modified in tandem with spec.parallelism"));
}

// Copies the containers' resources, matched by container name.
void take_resources(json& spec, const json& from) {
  for (const char* list : {"containers", "initContainers"}) {
    const json* theirs = find_at(from, {list});
    if (theirs == nullptr || !spec.contains(list) || spec[list].size() != theirs->size()) continue;
    for (std::size_t i = 0; i < theirs->size(); ++i) {
      json& ours = spec[list][i];
      const json& other = (*theirs)[i];
      if (text_at(ours, {"name"}) == text_at(other, {"name"}) && other.contains("resources"))
        ours["resources"] = other["resources"];
    }
  }
}

// A template's spec without its node constraints.
json without_directives(json spec) {
  for (const char* field : {"nodeSelector", "tolerations", "schedulingGates"}) spec.erase(field);
  if (!spec.contains("affinity")) return spec;
  spec["affinity"].erase("nodeAffinity");
  if (spec["affinity"].empty()) spec.erase("affinity");
  return spec;
}

// While a Job is suspended and has no pods, its template's node constraints and resources may
// change.
void check_template(const json& live, const json& next, std::vector<Cause>& causes) {
  const bool never_started = find_at(live, {"status", "startTime"}) == nullptr;
  const bool rests = true_at(live, {"spec", "suspend"}) &&
                     (never_started || is_true(live, "Suspended")) &&
                     integer_at(live, {"status", "active"}).value_or(0) == 0;
  const json before = live["spec"].value("template", json::object());
  const json after = next["spec"].value("template", json::object());
  if (!rests) {
    if (before != after) causes.push_back(immutable("spec.template", to_text(after)));
    return;
  }
  json old = without_directives(before.value("spec", json::object()));
  const json now = without_directives(after.value("spec", json::object()));
  take_resources(old, now);
  if (old != now) causes.push_back(immutable("spec.template.spec", to_text(now)));
}

}  // namespace

void check_job(const json& job, std::vector<Cause>& causes) {
  check_counts(job, causes);
  check_selector(job, causes);
}

// The hostname of an indexed Job's last pod must be a DNS label.
void check_new_job(const json& job, std::vector<Cause>& causes) {
  const auto completions = integer_at(job, {"spec", "completions"});
  if (text_at(job, {"spec", "completionMode"}) != "Indexed" || completions.value_or(0) <= 0) return;
  const std::string hostname =
      fmt::format("{}-{}", text_at(job, {"metadata", "name"}), *completions - 1);
  if (hostname.size() <= 63 && hostname.find('.') == hostname.npos && is_subdomain(hostname))
    return;
  causes.push_back(invalid_value("metadata.name", quote(hostname),
                                 "will not able to create pod with invalid DNS label"));
}

void check_job_change(const json& live, const json& next, std::vector<Cause>& causes) {
  check_completions(live, next, causes);
  for (const char* field : {"selector", "completionMode", "podFailurePolicy"})
    if (differ(live, next, {"spec", field}))
      causes.push_back(
          immutable(std::string("spec.") + field, to_text(next["spec"].value(field, json()))));
  check_template(live, next, causes);
}

void check_job_status(const json& live, const json& next, std::vector<Cause>& causes) {
  const json* suspended = condition_of(next, "Suspended");
  const bool resumes = is_true(live, "Suspended") && suspended != nullptr &&
                       text_at(*suspended, {"status"}) == "False";
  if (find_at(live, {"status", "startTime"}) != nullptr &&
      differ(live, next, {"status", "startTime"}) && !true_at(next, {"spec", "suspend"}) &&
      !resumes)
    causes.push_back(invalid_value("status.startTime", text_at(next, {"status", "startTime"}),
                                   "field is immutable for unsuspended job once set"));
  const auto ready = integer_at(next, {"status", "ready"});
  const bool counted =
      differ(live, next, {"status", "ready"}) || differ(live, next, {"status", "active"});
  if (counted && ready && *ready > integer_at(next, {"status", "active"}).value_or(0))
    causes.push_back(invalid_value("status.ready", std::to_string(*ready),
                                   "cannot set more ready pods than active"));
}

}  // namespace berth::sim
