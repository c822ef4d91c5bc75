// SPDX-License-Identifier: Apache-2.0
#include "controller/sim/server/pod_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "controller/sim/server/name_rules.h"
#include "controller/sim/world/object_fields.h"

namespace berth::sim {
namespace {

using nlohmann::json;

constexpr char kRequired[] = "requiredDuringSchedulingIgnoredDuringExecution";

const json& list_at(const json& object, FieldPath path) {
  static const json kNone = json::array();
  const json* found = find_at(object, path);
  return found != nullptr && found->is_array() ? *found : kNone;
}

// Like Go's comparison of pointers to structs: a missing value is null.
json value_at(const json& object, FieldPath path) {
  const json* found = find_at(object, path);
  return found == nullptr ? json() : *found;
}

void check_gates(const json& pod, std::vector<Cause>& causes) {
  std::set<std::string> seen;
  const json& gates = list_at(pod, {"spec", "schedulingGates"});
  for (std::size_t i = 0; i < gates.size(); ++i) {
    const std::string name = text_at(gates[i], {"name"});
    const std::string at = fmt::format("spec.schedulingGates[{}]", i);
    if (!is_qualified_name(name))
      causes.push_back(invalid_value(at, quote(name),
                                     "name part must consist of alphanumeric characters, '-', '_' "
                                     "or '.', and must start and end with one"));
    if (!seen.insert(name).second)
      causes.push_back({"FieldValueDuplicate", "Duplicate value: " + quote(name), at});
  }
}

void check_images(const json& pod, const char* list, std::vector<Cause>& causes) {
  const json& containers = list_at(pod, {"spec", list});
  for (std::size_t i = 0; i < containers.size(); ++i)
    if (text_at(containers[i], {"image"}).empty())
      causes.push_back(required_value(fmt::format("spec.{}[{}].image", list, i)));
}

// False: stops the check of other changes.
bool check_containers(const json& live, const json& next, const char* list,
                      std::vector<Cause>& causes) {
  const std::string at = std::string("spec.") + list;
  const json& containers = list_at(next, {"spec", list});
  if (containers.size() != list_at(live, {"spec", list}).size()) {
    causes.push_back(forbidden_field(at, "pod updates may not add or remove containers"));
    return false;
  }
  return true;
}

// False: stops the check of other changes.
bool check_deadline(const json& live, const json& next, std::vector<Cause>& causes) {
  constexpr char kAt[] = "spec.activeDeadlineSeconds";
  const auto before = integer_at(live, {"spec", "activeDeadlineSeconds"});
  const auto after = integer_at(next, {"spec", "activeDeadlineSeconds"});
  if (after && *after < 0) return false;  // already reported
  if (before && after && *after > *before) {
    causes.push_back(
        invalid_value(kAt, std::to_string(*after), "must be less than or equal to previous value"));
    return false;
  }
  if (before && !after)
    causes.push_back(
        invalid_value(kAt, "null", "must not update from a positive integer to nil value"));
  return true;
}

void check_tolerations(const json& live, const json& next, std::vector<Cause>& causes) {
  const auto but_time = [](json toleration) {
    toleration.erase("tolerationSeconds");
    return toleration;
  };
  const json& now = list_at(next, {"spec", "tolerations"});
  for (const json& old : list_at(live, {"spec", "tolerations"})) {
    const json wanted = but_time(old);
    if (std::ranges::any_of(now, [&](const json& one) { return but_time(one) == wanted; }))
      continue;
    causes.push_back(
        forbidden_field("spec.tolerations",
                        "existing toleration can not be modified except its tolerationSeconds"));
    return;
  }
}

void check_gates_change(const json& live, const json& next, std::vector<Cause>& causes) {
  const json& before = list_at(live, {"spec", "schedulingGates"});
  const json& after = list_at(next, {"spec", "schedulingGates"});
  for (std::size_t i = 0; i < after.size(); ++i) {
    const std::string name = text_at(after[i], {"name"});
    if (std::ranges::any_of(before, [&](const json& g) { return text_at(g, {"name"}) == name; }))
      continue;
    causes.push_back(forbidden_field(
        fmt::format("spec.schedulingGates[{}].name", i),
        fmt::format("only deletion is allowed, but found new scheduling gate '{}'", name)));
  }
}

void check_selector(const json& live, const json& next, std::vector<Cause>& causes) {
  const json before = value_at(live, {"spec", "nodeSelector"});
  const json after = value_at(next, {"spec", "nodeSelector"});
  for (const auto& [key, value] : before.items()) {
    if (after.contains(key) && after[key] == value) continue;
    causes.push_back(invalid_value("spec.nodeSelector", to_text(after),
                                   "only additions to spec.nodeSelector are allowed (no mutations "
                                   "or deletions)"));
    return;
  }
}

bool begins_with(const json& list, const json& beginning) {
  return list.size() >= beginning.size() &&
         std::equal(beginning.begin(), beginning.end(), list.begin());
}

bool is_narrower(const json& term, const json& old) {
  const json &expressions = list_at(old, {"matchExpressions"}),
             &fields = list_at(old, {"matchFields"});
  const json &more = list_at(term, {"matchExpressions"}),
             &more_fields = list_at(term, {"matchFields"});
  // An empty term selects nothing; with requirements, it would select more.
  if (expressions.empty() && fields.empty() && !(more.empty() && more_fields.empty())) return false;
  return begins_with(more, expressions) && begins_with(more_fields, fields);
}

void check_affinity(const json& live, const json& next, std::vector<Cause>& causes) {
  const std::string at = fmt::format("spec.affinity.nodeAffinity.{}.nodeSelectorTerms", kRequired);
  const FieldPath path = {"spec", "affinity", "nodeAffinity", kRequired, "nodeSelectorTerms"};
  const json& before = list_at(live, path);
  const json& after = list_at(next, path);
  if (before.empty()) return;
  if (before.size() != after.size()) {
    causes.push_back(
        invalid_value(at, to_text(after),
                      "no additions/deletions to non-empty NodeSelectorTerms list are allowed"));
    return;
  }
  for (std::size_t i = 0; i < before.size(); ++i)
    if (!is_narrower(after[i], before[i]))
      causes.push_back(invalid_value(fmt::format("{}[{}]", at, i), to_text(after[i]),
                                     "only additions are allowed (no mutations or deletions)"));
}

// The spec without the fields that are checked separately.
json fixed_spec(const json& pod, bool gated) {
  json spec = value_at(pod, {"spec"});
  for (const char* open : {"activeDeadlineSeconds", "tolerations", "schedulingGates"})
    spec.erase(open);
  for (const char* list : {"containers", "initContainers"})
    if (spec.contains(list) && spec[list].is_array())
      for (json& container : spec[list])
        if (container.is_object()) container.erase("image");
  if (!gated) return spec;
  spec.erase("nodeSelector");
  if (const auto affinity = spec.find("affinity"); affinity != spec.end()) {
    affinity->erase("nodeAffinity");
    if (affinity->empty()) spec.erase(affinity);
  }
  return spec;
}

// One second replaces a value that no deletion can have meant.
bool mends_grace(const json& live, const json& next) {
  return integer_at(live, {"spec", "terminationGracePeriodSeconds"}).value_or(0) < 0 &&
         integer_at(next, {"spec", "terminationGracePeriodSeconds"}) == 1;
}

}  // namespace

void check_pod(const json& pod, std::vector<Cause>& causes) {
  if (list_at(pod, {"spec", "containers"}).empty())
    causes.push_back(required_value("spec.containers"));
  for (const char* list : {"containers", "initContainers"}) check_images(pod, list, causes);
  if (const auto deadline = integer_at(pod, {"spec", "activeDeadlineSeconds"});
      deadline && *deadline < 1)
    causes.push_back(invalid_value("spec.activeDeadlineSeconds", std::to_string(*deadline),
                                   "must be between 1 and 2147483647, inclusive"));
  check_gates(pod, causes);
}

void check_new_pod(const json& pod, std::vector<Cause>& causes) {
  if (!text_at(pod, {"spec", "nodeName"}).empty() &&
      !list_at(pod, {"spec", "schedulingGates"}).empty())
    causes.push_back(forbidden_field("spec.nodeName",
                                     "cannot be set until all schedulingGates have been cleared"));
}

void check_pod_change(const json& live, const json& next, std::vector<Cause>& causes) {
  if (!check_containers(live, next, "containers", causes) ||
      !check_containers(live, next, "initContainers", causes) ||
      !check_deadline(live, next, causes))
    return;
  check_tolerations(live, next, causes);
  check_gates_change(live, next, causes);
  // An update that removes the last gate may still narrow the constraints.
  const bool gated = !list_at(live, {"spec", "schedulingGates"}).empty();
  if (gated) {
    check_selector(live, next, causes);
    check_affinity(live, next, causes);
  }
  json before = fixed_spec(live, gated);
  const json after = fixed_spec(next, gated);
  if (mends_grace(live, next)) before["terminationGracePeriodSeconds"] = 1;
  if (before != after)
    causes.push_back(forbidden_field(
        "spec",
        "pod updates may not change fields other than `spec.containers[*].image`,"
        "`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only "
        "additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be "
        "set to 1 if it was previously negative)"));
}

}  // namespace berth::sim
