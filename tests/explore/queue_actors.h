// SPDX-License-Identifier: Apache-2.0
// QueueActors: users who do not wait for their queue. Each acts on the first suitable workload, by
// name.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "controller/scenario/scenario.h"
#include "controller/sim/world/store.h"

namespace berth::explore {

bool has_queues(const Scenario& scenario);

const std::vector<std::string>& queue_actor_names();
// nullopt: there is no such workload now.
std::optional<Incident> queue_act_of(std::string_view actor, const sim::Store& store);

}  // namespace berth::explore
