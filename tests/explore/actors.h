// SPDX-License-Identifier: Apache-2.0
// Actors: what people and other controllers do to the fields that berth manages, by name, as
// incidents that a scenario run can play.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "controller/scenario/scenario.h"
#include "controller/sim/world/store.h"

namespace berth::explore {

// "cordon", "uncordon", "mig-config", "annotation-junk", "ledger-delete", "authority-gone", …
const std::vector<std::string>& actor_names();
// Those who meddle with what berth does in the scenario: with certificates where it keeps some,
// with nodes elsewhere, with what waits where there are queues, and with what is remembered of
// broken GPUs and of budgets where there are any.
std::vector<std::string> actors_in(const Scenario& scenario);
// What one of them does, to this node where it is about a node, or to the first workload of its
// kind; nothing if there is none just then.
std::optional<Incident> act_of(std::string_view actor, const std::string& node,
                               const sim::Store& store, const Settings& settings);

// Of a phase's acts: what is done, and what later undoes it so that the scenario can still end.
std::vector<Incident> phase_acts(std::string_view act, const std::string& layout,
                                 const std::string& node);

}  // namespace berth::explore
