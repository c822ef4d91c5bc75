// SPDX-License-Identifier: Apache-2.0
// What may happen to those who run while berth was away, or while its clock is wrong.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/scenario/play.h"

namespace berth::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

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
expect: {halves: False PodDisruptionBudget}
limit: 5h
)";
}

// The minute in which a pod is forced off first; -1: none is.
int first_forced(const std::string& transcript) {
  const std::size_t at = transcript.find("force off node");
  if (at == std::string::npos) return -1;
  const std::size_t line = transcript.rfind('\n', at) + 1;
  int hours = 0, minutes = 0, seconds = 0;
  const std::string time = transcript.substr(line, 16);
  if (std::sscanf(time.c_str(), "%d:%d:%d", &hours, &minutes, &seconds) == 3)
    return hours * 60 + minutes;
  return hours;
}

TEST(Absence, AnHourWithoutBerthIsNoPatienceOfADrain) {
  const Played played = play(force_after_20m(R"(
- {whenPhase: Draining, after: 1s, terminate: all}
- {whenPhase: Draining, after: 1h, start: all}
)"));
  const int forced = first_forced(played.transcript);
  EXPECT_GE(forced, 80) << played.transcript;
  EXPECT_LE(forced, 82) << "20 minutes of its own are enough";
}

TEST(Absence, AClockThatJumpsAheadForcesNobodyOff) {
  const Played played = play(force_after_20m(R"(
- {whenPhase: Draining, after: 2m, set-clock: leader, ahead: 24h}
- {whenPhase: Draining, after: 1h, set-clock: all}
)"));
  const int forced = first_forced(played.transcript);
  EXPECT_GE(forced, 80) << played.transcript;
  EXPECT_LE(forced, 86) << "the patience begins anew once the clock is right";
}

}  // namespace
}  // namespace berth::test
