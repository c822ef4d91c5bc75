// SPDX-License-Identifier: Apache-2.0
#include "controller/scenario/run_report.h"

#include <utility>

#include "controller/scenario/scenario_run.h"

namespace berth {

RunReport play_scenario(const Scenario& scenario, std::uint64_t seed,
                        std::function<void(const TranscriptEntry&)> on_entry,
                        const std::function<void(ScenarioRun&)>& on_begin) {
  ScenarioRun run(scenario, seed);
  if (on_begin) on_begin(run);
  const RolloutTimes times(run);
  Transcript transcript(run, std::move(on_entry));
  run.run();
  transcript.finish();
  return {.scenario = scenario.name,
          .seed = seed,
          .unsettled = run.unsettled(),
          .elapsed = std::chrono::duration_cast<std::chrono::milliseconds>(run.elapsed()),
          .events = transcript.entries(),
          .end = end_state(run.simulation().store(), scenario.settings),
          .outs = times.all()};
}

}  // namespace berth
