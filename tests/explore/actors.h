// SPDX-License-Identifier: Apache-2.0
// Actors: what users and other controllers do to the fields that berth manages, by name, as
// incidents for a scenario run.
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
// The actors that interfere with berth in the scenario: with certificates where it manages some,
// with nodes elsewhere, with pending workloads where there are queues, and with records of broken
// GPUs and of budgets where there are any.
std::vector<std::string> actors_in(const Scenario& scenario);
// The actor's incident, for this node or for the first suitable workload; nullopt: there is none
// now.
std::optional<Incident> act_of(std::string_view actor, const std::string& node,
                               const sim::Store& store, const Settings& settings);

// A phase's incidents: the act, and what later undoes it so that the scenario can still end.
std::vector<Incident> phase_acts(std::string_view act, const std::string& layout,
                                 const std::string& node);

}  // namespace berth::explore
