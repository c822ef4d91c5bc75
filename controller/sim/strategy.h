// SPDX-License-Identifier: Apache-2.0
// Strategy: what the server itself does to an object of a kind around a write, before it is
// validated: what a create may not set, which half of an object each subresource writes, and when
// its generation moves. Also what admission adds in every cluster.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "controller/sim/resource_type.h"
#include "controller/sim/store.h"

namespace berth::sim {

void prepare_create(const ResourceType& type, nlohmann::json& object);
// After the fields' owners have been told: what admission plugins add, or a refusal; `key` names
// the object in it.
void admit_create(const Store& store, const StoreKey& key, nlohmann::json& object);
// The same of an update: what it left out of a pod comes back.
void admit_update(const ResourceType& type, const nlohmann::json& live, nlohmann::json& next);
void prepare_update(const ResourceType& type, const nlohmann::json& live, nlohmann::json& next,
                    const std::string& subresource);

// Whether a PUT may come without resourceVersion, and may create.
bool allows_unconditional_update(const ResourceType& type);
bool creates_on_update(const ResourceType& type);
// Whether a deletion is a request to somebody else to stop first.
bool deletes_gracefully(const ResourceType& type);

}  // namespace berth::sim
