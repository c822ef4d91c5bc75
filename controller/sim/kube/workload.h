// SPDX-License-Identifier: Apache-2.0
// Workload: shared by the controllers of pods: making a pod from a template, waking the owner when
// its pods change, and writing a status only if it differs.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string_view>

#include "controller/sim/kube/actor_client.h"
#include "controller/sim/kube/actor_queue.h"

namespace berth::sim {

// A pod from the owner's spec.template, controlled by the owner and named by the server.
nlohmann::json make_pod(const nlohmann::json& owner);
// Wakes the controller of the changed object if the controller is of this kind.
void wake_controller(ActorQueue& queue, const Change& change, std::string_view plural);
// `status` has the members to compare; null removes one.
void write_status(const ActorClient& client, const StoreKey& key, const nlohmann::json& object,
                  nlohmann::json status);

}  // namespace berth::sim
