// SPDX-License-Identifier: Apache-2.0
// QueueActors: people who don't wait for their queue. Each takes the first workload, by name, that
// it can do something about.
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
// Nothing: there is no such workload just then.
std::optional<Incident> queue_act_of(std::string_view actor, const sim::Store& store);

}  // namespace berth::explore
