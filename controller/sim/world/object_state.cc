// SPDX-License-Identifier: Apache-2.0
#include "controller/sim/world/object_state.h"

#include <nlohmann/json.hpp>

#include "apis/base/time.h"

namespace berth::sim {

using nlohmann::json;

StoreKey key_of(std::string_view plural, const json& object) {
  return {find_resource_type(plural), namespace_of(object), name_of(object)};
}
StoreKey node_key(const std::string& name) { return {find_resource_type("nodes"), "", name}; }

std::string name_of(const json& object) { return text_at(object, {"metadata", "name"}); }
std::string namespace_of(const json& object) { return text_at(object, {"metadata", "namespace"}); }
std::string uid_of(const json& object) { return text_at(object, {"metadata", "uid"}); }

bool differ(const json& before, const json& after, FieldPath path) {
  const json *was = find_at(before, path), *now = find_at(after, path);
  return was == nullptr || now == nullptr ? was != now : *was != *now;
}

bool is_terminating(const json& object) {
  return find_at(object, {"metadata", "deletionTimestamp"}) != nullptr;
}

bool has_finalizer(const json& object, std::string_view finalizer) {
  return holds_text(object, {"metadata", "finalizers"}, std::string(finalizer));
}

const json* controller_of(const json& object) {
  const json* owners = find_at(object, {"metadata", "ownerReferences"});
  if (owners == nullptr) return nullptr;
  for (const json& owner : *owners)
    if (true_at(owner, {"controller"})) return &owner;
  return nullptr;
}

const json* condition_of(const json& object, std::string_view type) {
  const json* conditions = find_at(object, {"status", "conditions"});
  if (conditions == nullptr) return nullptr;
  for (const json& condition : *conditions)
    if (text_at(condition, {"type"}) == type) return &condition;
  return nullptr;
}

bool is_true(const json& object, std::string_view condition) {
  const json* found = condition_of(object, condition);
  return found != nullptr && text_at(*found, {"status"}) == "True";
}

json with_condition(const json& object, const NewCondition& condition, WallTime now) {
  const json* old = find_at(object, {"status", "conditions"});
  json conditions = old != nullptr && old->is_array() ? *old : json::array();
  json next = {{"type", condition.type},
               {"status", condition.status},
               {"lastTransitionTime", format_time(now)}};
  if (!condition.reason.empty()) next["reason"] = condition.reason;
  if (!condition.message.empty()) next["message"] = condition.message;
  for (json& there : conditions) {
    if (text_at(there, {"type"}) != condition.type) continue;
    if (text_at(there, {"status"}) == condition.status && there.contains("lastTransitionTime"))
      next["lastTransitionTime"] = there["lastTransitionTime"];
    there = std::move(next);
    return conditions;
  }
  conditions.push_back(std::move(next));
  return conditions;
}

std::string node_of(const json& pod) { return text_at(pod, {"spec", "nodeName"}); }

bool is_finished(const json& pod) {
  const std::string phase = text_at(pod, {"status", "phase"});
  return phase == "Succeeded" || phase == "Failed";
}

bool is_active(const json& pod) { return !is_terminating(pod) && !is_finished(pod); }

}  // namespace berth::sim
