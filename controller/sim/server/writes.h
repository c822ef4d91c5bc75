// SPDX-License-Identifier: Apache-2.0
// Writes: changes of objects. Each function changes the store, or returns the unchanged object, or
// throws a Refusal and changes nothing.
#pragma once

#include "controller/sim/server/api_server.h"
#include "controller/sim/world/random.h"
#include "controller/sim/world/store.h"
#include "controller/sim/world/virtual_clock.h"

namespace berth::sim {

struct Writing {
  Store& store;
  const VirtualClock& clock;
  Random& random;
  const ApiServer::Policy& policy;
};

WriteReply create_object(Writing& writing, const WriteRequest& request);  // creation.cc
// The creation up to the point where webhooks are asked: without a generated name and unvalidated.
WriteReply draft_object(Writing& writing, const WriteRequest& request);
// A whole object, a patch or an apply.
WriteReply update_object(Writing& writing, const WriteRequest& request);  // update.cc
WriteReply delete_object(Writing& writing, const WriteRequest& request);  // deletion.cc
WriteReply evict_pod(Writing& writing, const WriteRequest& request);      // eviction.cc

// Admission of a complete valid write: checks policies and then charges quotas. Throws a Refusal.
// `live` is null for a creation.
void judge_write(Writing& writing, const WriteRequest& request, const StoreKey& key,
                 const nlohmann::json* live, const nlohmann::json& next);
// Stores the object, or returns what would be stored (dry run).
WriteReply store_object(Writing& writing, const WriteRequest& request, const StoreKey& key,
                        nlohmann::json object, int code);
// The body as an object of the kind; else throws a 400. For built-in kinds it fills in a missing
// apiVersion and kind.
nlohmann::json decode_body(const ResourceType& type, const ObjectPtr& body);
bool is_custom(const ResourceType& type);

}  // namespace berth::sim
