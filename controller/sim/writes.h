// SPDX-License-Identifier: Apache-2.0
// Writes: what happens to objects. Each either changes the store, or answers what already stands,
// or throws a Refusal and changes nothing.
#pragma once

#include "controller/sim/api_server.h"
#include "controller/sim/random.h"
#include "controller/sim/store.h"
#include "controller/sim/virtual_clock.h"

namespace berth::sim {

struct Writing {
  Store& store;
  const VirtualClock& clock;
  Random& random;
  const ApiServer::Policy& policy;
};

WriteReply create_object(Writing& writing, const WriteRequest& request);  // creation.cc
// How far that gets before webhooks are asked: no name is made up yet, and nothing validated.
WriteReply draft_object(Writing& writing, const WriteRequest& request);
// A whole object, a patch or an apply.
WriteReply update_object(Writing& writing, const WriteRequest& request);  // update.cc
WriteReply delete_object(Writing& writing, const WriteRequest& request);  // deletion.cc
WriteReply evict_pod(Writing& writing, const WriteRequest& request);      // eviction.cc

// What admission says of a valid write when everything about it is known: policies, and then
// quotas, which it is charged to. Throws a Refusal. `live` is null of a creation.
void judge_write(Writing& writing, const WriteRequest& request, const StoreKey& key,
                 const nlohmann::json* live, const nlohmann::json& next);
// Stores the object, or says how it would stand (dry run).
WriteReply store_object(Writing& writing, const WriteRequest& request, const StoreKey& key,
                        nlohmann::json object, int code);
// The body as an object of the kind; a 400 otherwise. What it lacks of apiVersion and kind is
// filled in for the kinds that are built in.
nlohmann::json decode_body(const ResourceType& type, const ObjectPtr& body);
bool is_custom(const ResourceType& type);

}  // namespace berth::sim
