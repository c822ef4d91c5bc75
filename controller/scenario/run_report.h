// SPDX-License-Identifier: Apache-2.0
// RunReport: the result of a scenario that was played from start to end.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "controller/scenario/end_state.h"
#include "controller/scenario/rollout_times.h"
#include "controller/scenario/transcript.h"

namespace berth {

struct RunReport {
  std::string scenario;
  std::uint64_t seed = 0;
  std::string unsettled;  // empty: it ended as expected
  std::chrono::milliseconds elapsed{0};
  std::vector<TranscriptEntry> events;
  EndState end;
  std::vector<NodeOut> outs;
};

// `on_entry` gets the transcript as it happens, and `on_begin` gets the run before its first step.
// Both may be empty.
RunReport play_scenario(const Scenario& scenario, std::uint64_t seed,
                        std::function<void(const TranscriptEntry&)> on_entry,
                        const std::function<void(ScenarioRun&)>& on_begin = {});

}  // namespace berth
