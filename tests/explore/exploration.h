// SPDX-License-Identifier: Apache-2.0
// Exploration: one run of a scenario under a schedule, with all checks: the invariants at every
// change, then a quiet phase without changes, then the final state.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "controller/scenario/scenario.h"
#include "tests/explore/schedule.h"

namespace berth::explore {

struct RunReport {
  std::string failure;  // empty: all invariants held
  std::chrono::nanoseconds simulated{0};
  std::int64_t steps = 0;
  Footprint footprint;
};

struct RunOptions {
  std::uint64_t seed = 1;
  std::int64_t steps = 3'000'000;  // more steps mean a livelock
  std::chrono::nanoseconds quiet = std::chrono::minutes(10);
  std::function<void(const std::string& line)> transcript;
  // Called when a counter of faults increases ("write", 17), before any fault: the schedule for the
  // rest of the run, if it is a different one (see trunk.h).
  std::function<std::optional<Schedule>(std::string_view counter, int number)> branch;
  // Gets the report before the run is destroyed; it need not return.
  std::function<void(const RunReport&)> on_end;
};

RunReport explore(const Scenario& scenario, const Schedule& schedule, const RunOptions& options);

}  // namespace berth::explore
