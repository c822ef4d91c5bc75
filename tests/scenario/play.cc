// SPDX-License-Identifier: Apache-2.0
#include "tests/scenario/play.h"

#include <fmt/format.h>

#include <stdexcept>

#include "controller/scenario/report_json.h"

namespace berth::test {

Played play(const Scenario& scenario, std::uint64_t seed) {
  Played played;
  const RunReport report = play_scenario(scenario, seed, [&](const TranscriptEntry& entry) {
    played.transcript += format(entry) + "\n";
  });
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
