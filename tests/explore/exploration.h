// SPDX-License-Identifier: Apache-2.0
// Exploration: one run of a scenario under a schedule, judged: the invariants at every change, then
// a quiet phase in which nothing moves, and what then stands.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

#include "controller/scenario/scenario.h"
#include "tests/explore/schedule.h"

namespace berth::explore {

struct RunOptions {
  std::uint64_t seed = 1;
  std::int64_t steps = 3'000'000;  // more is a livelock
  std::chrono::nanoseconds quiet = std::chrono::minutes(10);
  std::function<void(const std::string& line)> transcript;
};

struct RunReport {
  std::string failure;  // empty: it held
  std::chrono::nanoseconds simulated{0};
  std::int64_t steps = 0;
  Footprint footprint;
};

RunReport explore(const Scenario& scenario, const Schedule& schedule, const RunOptions& options);

}  // namespace berth::explore
