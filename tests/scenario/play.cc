// SPDX-License-Identifier: Apache-2.0
#include "tests/scenario/play.h"

#include <fmt/format.h>

#include <stdexcept>

#include "controller/scenario/end_state.h"
#include "controller/scenario/report_json.h"
#include "controller/scenario/scenario_run.h"
#include "controller/scenario/transcript.h"

namespace berth::test {

Played play(const Scenario& scenario, std::uint64_t seed) {
  ScenarioRun run(scenario, seed);
  const RolloutTimes times(run);
  Played played;
  Transcript transcript(
      run, [&](const TranscriptEntry& entry) { played.transcript += format(entry) + "\n"; });
  run.run();
  transcript.finish();
  const RunReport report{
      .scenario = scenario.name,
      .seed = seed,
      .unsettled = run.unsettled(),
      .elapsed = std::chrono::duration_cast<std::chrono::milliseconds>(run.elapsed()),
      .events = transcript.entries(),
      .end = end_state(run.simulation().store(), scenario.settings),
      .outs = times.all()};
  played.end = print_text(report.end, report.outs);
  played.json = print_json(report);
  played.unsettled = report.unsettled;
  played.outs = report.outs;
  played.elapsed = report.elapsed;
  return played;
}

Played play(const std::string& yaml, std::uint64_t seed) {
  const Result<Scenario> scenario = parse_scenario(yaml, "scenario.yaml");
  if (!scenario) throw std::runtime_error(describe(scenario.error()));
  return play(*scenario, seed);
}

std::string small_scenario(int nodes, const std::string& more) {
  return fmt::format(R"(
nodes: [{{count: {}}}]
{}
timeline:
- at: 1s
  apply:
    apiVersion: gpu.berth.dev/v1alpha1
    kind: MIGLayout
    metadata: {{name: small}}
    spec:
      nodeSelector: {{}}
      devices: [{{profiles: {{1g.10gb: 7}}}}]
      capacityGuard: {{retire: [nvidia.com/gpu]}}
)",
                     nodes, more);
}

}  // namespace berth::test
