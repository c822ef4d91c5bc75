// SPDX-License-Identifier: Apache-2.0
// Strategy: what the server does to an object of each kind around a write, before validation:
// fields that a create may not set, which half of an object each subresource writes, and when the
// generation changes. Also what admission adds in every cluster.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "controller/sim/world/resource_type.h"
#include "controller/sim/world/store.h"

namespace berth::sim {

void prepare_create(const ResourceType& type, nlohmann::json& object);
// Call it after the fields' owners are set: adds what admission plugins add, or throws a refusal,
// which names the object by `key`.
void admit_create(const Store& store, const StoreKey& key, nlohmann::json& object);
// The same for an update: restores fields that it omitted from a pod.
void admit_update(const ResourceType& type, const nlohmann::json& live, nlohmann::json& next);
void prepare_update(const ResourceType& type, const nlohmann::json& live, nlohmann::json& next,
                    const std::string& subresource);

// Whether a PUT may omit resourceVersion, and whether it may create.
bool allows_unconditional_update(const ResourceType& type);
bool creates_on_update(const ResourceType& type);
// Whether a deletion first asks another component to stop the object.
bool deletes_gracefully(const ResourceType& type);

}  // namespace berth::sim
