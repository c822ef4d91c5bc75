// SPDX-License-Identifier: Apache-2.0
// Exploration: one run of a scenario under a schedule, judged: the invariants at every change, then
// a quiet phase in which nothing moves, and what then stands.
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
  std::string failure;  // empty: it held
  std::chrono::nanoseconds simulated{0};
  std::int64_t steps = 0;
  Footprint footprint;
};

struct RunOptions {
  std::uint64_t seed = 1;
  std::int64_t steps = 3'000'000;  // more is a livelock
  std::chrono::nanoseconds quiet = std::chrono::minutes(10);
  std::function<void(const std::string& line)> transcript;
  // Asked each time a counter of faults moves on ("write", 17), before anything can strike: the
  // schedule under which the run goes on from here, if it is to be another (see trunk.h).
  std::function<std::optional<Schedule>(std::string_view counter, int number)> branch;
  // Hears the report before the run is taken apart; it need not return.
  std::function<void(const RunReport&)> on_end;
};

RunReport explore(const Scenario& scenario, const Schedule& schedule, const RunOptions& options);

}  // namespace berth::explore
