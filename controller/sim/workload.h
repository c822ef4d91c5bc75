// SPDX-License-Identifier: Apache-2.0
// What the controllers of pods have in common: the pod made out of a template, the owner woken by
// its pods, a status written only where it differs.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string_view>

#include "controller/sim/actor_client.h"
#include "controller/sim/actor_queue.h"

namespace berth::sim {

// The owner's spec.template as a pod that the owner controls, named by the server.
nlohmann::json make_pod(const nlohmann::json& owner);
// Wakes who controls the changed object, if it is of this kind.
void wake_controller(ActorQueue& queue, const Change& change, std::string_view plural);
// `status` names the members that matter; null removes one.
void write_status(const ActorClient& client, const StoreKey& key, const nlohmann::json& object,
                  nlohmann::json status);

}  // namespace berth::sim
