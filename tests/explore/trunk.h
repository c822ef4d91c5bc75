// SPDX-License-Identifier: Apache-2.0
// Trunk: a run under the common part of several schedules. Each schedule branches off where its
// first fault would occur: the run forks a process there, which continues under the schedule to its
// end. The common part is thus simulated once, and is equal to a run from the start, byte for byte.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "tests/explore/exploration.h"
#include "tests/explore/schedule.h"

namespace berth::explore {

struct Branch {
  std::size_t number = 0;  // identifies it
  Schedule schedule;
};

// Called with the results. on_end and on_trunk are called in the process of that run, before it is
// destroyed; the others in the trunk's process.
struct TrunkHooks {
  std::function<bool()> goes_on;  // called before each branch; false ends everything
  std::function<void(const Branch&, const RunReport&)> on_end;
  std::function<void(const Branch&, const std::string& how)> on_death;
  // The trunk has ended without reaching this branch.
  std::function<void(const Branch&)> on_unreached;
  // If set, the trunk runs on beyond its last branch.
  std::function<void(const RunReport&)> on_trunk;
};

// Returns only in the trunk's own process.
void play_trunk(const Scenario& scenario, const Schedule& common, std::vector<Branch> branches,
                const RunOptions& options, const TrunkHooks& hooks);

}  // namespace berth::explore
