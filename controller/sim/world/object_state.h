// SPDX-License-Identifier: Apache-2.0
// ObjectState: what an object's metadata and status say, as Kubernetes' components ask: whether it
// is terminating, its controller, whether a pod is ready, and its conditions.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "controller/sim/world/object_fields.h"
#include "controller/sim/world/store.h"
#include "controller/sim/world/virtual_clock.h"

namespace berth::sim {

inline bool is(const StoreKey& key, std::string_view plural) { return key.type->plural == plural; }
StoreKey key_of(std::string_view plural, const nlohmann::json& object);
StoreKey node_key(const std::string& name);

std::string name_of(const nlohmann::json& object);
std::string namespace_of(const nlohmann::json& object);
std::string uid_of(const nlohmann::json& object);
// Whether the values at the path differ.
bool differ(const nlohmann::json& before, const nlohmann::json& after, FieldPath path);
bool is_terminating(const nlohmann::json& object);
bool has_finalizer(const nlohmann::json& object, std::string_view finalizer);
// The owner reference with controller: true; null: none.
const nlohmann::json* controller_of(const nlohmann::json& object);

// From status.conditions; null: absent.
const nlohmann::json* condition_of(const nlohmann::json& object, std::string_view type);
bool is_true(const nlohmann::json& object, std::string_view condition);
struct NewCondition {
  std::string type;
  std::string status;
  std::string reason;
  std::string message;
};
// All of status.conditions with this one set; its transition time changes only with its status.
nlohmann::json with_condition(const nlohmann::json& object, const NewCondition& condition,
                              WallTime now);

// Pods.
std::string node_of(const nlohmann::json& pod);  // empty: not bound
bool is_finished(const nlohmann::json& pod);     // Succeeded or Failed
bool is_active(const nlohmann::json& pod);       // neither finished nor terminating

}  // namespace berth::sim
