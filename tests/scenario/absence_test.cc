// SPDX-License-Identifier: Apache-2.0
// What may happen to those who run while berth was away, or while its clock is wrong.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "tests/scenario/play.h"

namespace berth::test {
namespace {

// Three nodes; six pods of `chat`, of which a budget lets one go at a time; a layout that forces
// off after 20 minutes.
std::string force_after_20m(const std::string& timeline) {
  return R"(
nodes: [{count: 3, name: "gpu-", product: A100-80GB, gpus: 4}]
workloads: [{name: chat, replicas: 6, count: 1}]
timeline:
- at: 4s
  apply:
    apiVersion: policy/v1
    kind: PodDisruptionBudget
    metadata: {name: chat, namespace: team-a}
    spec: {minAvailable: 5, selector: {matchLabels: {app: chat}}}
- at: 5s
  apply:
    apiVersion: gpu.berth.dev/v1alpha1
    kind: MIGLayout
    metadata: {name: halves}
    spec:
      nodeSelector: {}
      devices: [{profiles: {3g.40gb: 2}}]
      capacityGuard: {retire: [nvidia.com/gpu]}
      drain: {onTimeout: Force, timeout: 20m}
)" + timeline +
         R"(
- {at: 100m, annotate: gpu-1, set: {x.example.com/y: z}}
expect: {halves: False PodDisruptionBudget}
limit: 3h
)";
}

// The minute in which the second pod of gpu-2 goes, which the budget keeps; -1: it stays.
int forced_off(const std::string& transcript) {
  constexpr std::string_view kSentAway = "sent away from gpu-2";
  const std::size_t first = transcript.find(kSentAway);
  const std::size_t at = transcript.find(kSentAway, first + kSentAway.size());
  if (at == std::string::npos) return -1;
  const std::string line = transcript.substr(transcript.rfind('\n', at) + 1);
  return std::stoi(line.substr(0, 2)) * 60 + std::stoi(line.substr(3, 2));
}

TEST(Absence, AnHourWithoutBerthIsNoPatienceOfADrain) {
  const Played played = play(force_after_20m(R"(
- {whenPhase: Draining, after: 1s, terminate: all}
- {whenPhase: Draining, after: 1h, start: all}
)"));
  const int forced = forced_off(played.transcript);
  EXPECT_GE(forced, 80) << played.transcript;
  EXPECT_LE(forced, 82) << "20 minutes of its own are enough";
}

TEST(Absence, AClockThatJumpsAheadForcesNobodyOff) {
  const Played played = play(force_after_20m(R"(
- {whenPhase: Draining, after: 2m, set-clock: leader, ahead: 24h}
- {whenPhase: Draining, after: 1h, set-clock: all}
)"));
  const int forced = forced_off(played.transcript);
  EXPECT_GE(forced, 80) << played.transcript;
  EXPECT_LE(forced, 86) << "the patience begins anew once the clock is right";
}

}  // namespace
}  // namespace berth::test
