// SPDX-License-Identifier: Apache-2.0
// From a fault that a GPU shows to the node's cordon, in simulated time: one round of measurements
// and a second, whenever in the round it comes.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "controller/scenario/run_report.h"
#include "controller/scenario/transcript.h"
#include "tests/scenario/play.h"

namespace berth::test {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

constexpr auto kInterval = 30s;

std::string with_fault_at(milliseconds at) {
  return fmt::format(R"(
name: fault
prometheus: true
nodes: [{{name: "n", count: 2, gpus: 2, labels: {{tier: lab}}}}]
timeline:
- at: 1s
  apply:
    apiVersion: gpu.berth.dev/v1alpha1
    kind: GPUClusterPolicy
    metadata: {{name: cluster}}
    spec:
      pools: [{{name: lab, nodeSelector: {{matchLabels: {{tier: lab}}}}}}]
      metrics: {{interval: {}s, prometheus: {{url: "http://prometheus.monitoring:9090"}}}}
      health: {{action: Cordon, maxUnhealthyFraction: "100%"}}
- {{at: {}ms, gauges: n1, gpu: 0, xid: 79}}
)",
                     kInterval / 1s, at / 1ms);
}

std::optional<milliseconds> cordoned_at(const std::string& yaml) {
  std::optional<milliseconds> at;
  play_scenario(parse_scenario(yaml, "scenario.yaml").value(), 1,
                [&](const TranscriptEntry& entry) {
                  if (entry.subject == "n1" && entry.text == "cordoned by berth" && !at)
                    at = entry.at;
                });
  return at;
}

TEST(HealthLatency, IsARoundAndASecondAtTheMost) {
  std::vector<milliseconds> delays;
  for (milliseconds shown = 70s; shown < 70s + kInterval; shown += 1500ms) {
    const std::optional<milliseconds> cordoned = cordoned_at(with_fault_at(shown));
    ASSERT_TRUE(cordoned) << shown.count() << " ms";
    delays.push_back(*cordoned - shown);
  }
  EXPECT_LE(std::ranges::max(delays), kInterval + 1s);
  EXPECT_LE(std::ranges::min(delays), 1500ms + 1s) << "just before a round";
}

}  // namespace
}  // namespace berth::test
