// SPDX-License-Identifier: Apache-2.0
// PriorityAdmission: a new pod gets the priority of its PriorityClass, else that of the default
// class, else none. A different value in the pod is refused.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "controller/sim/world/store.h"

namespace berth::sim {

// The classes that every server creates, as bodies of creations.
std::vector<nlohmann::json> system_priority_classes();
bool is_system_class(std::string_view name);

// `key` names the pod in a refusal.
void admit_priority(const Store& store, const StoreKey& key, nlohmann::json& pod);
// Refuses a second default class.
void admit_priority_class(const Store& store, const StoreKey& key, const nlohmann::json& next,
                          bool exists);

}  // namespace berth::sim
