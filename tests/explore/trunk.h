// SPDX-License-Identifier: Apache-2.0
// Trunk: a run under what its schedules have in common, from which each schedule branches off where
// its first fault would strike: a process is forked there, and goes on under the schedule to its
// end. What comes before is played once for all of them, and is the same byte for byte as if each
// had been played from the start.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "tests/explore/exploration.h"
#include "tests/explore/schedule.h"

namespace berth::explore {

struct Branch {
  std::size_t number = 0;  // tells them apart
  Schedule schedule;
};

// Who hears what came of it. on_end and on_trunk are told in the process that was the run, before
// it is taken apart; the others in the trunk's.
struct TrunkHooks {
  std::function<bool()> goes_on;  // asked before each branch; false ends it all
  std::function<void(const Branch&, const RunReport&)> on_end;
  std::function<void(const Branch&, const std::string& how)> on_death;
  // The trunk has ended without coming to where this one branches off.
  std::function<void(const Branch&)> on_unreached;
  // It is played beyond its last branch only if somebody wants to know.
  std::function<void(const RunReport&)> on_trunk;
};

// Returns only in the trunk's own process.
void play_trunk(const Scenario& scenario, const Schedule& common, std::vector<Branch> branches,
                const RunOptions& options, const TrunkHooks& hooks);

}  // namespace berth::explore
