// SPDX-License-Identifier: Apache-2.0
// Whole runs: the story they tell, how they end, and that they tell the same one again.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controller/scenario/end_state.h"
#include "controller/scenario/scenario_run.h"
#include "tests/scenario/play.h"

namespace berth::test {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::MatchesRegex;
using testing::Not;

TEST(ScenarioRun, TellsOneNodesWayInOrder) {
  const Played played = play(small_scenario(1));
  EXPECT_THAT(played.unsettled, IsEmpty());
  std::size_t at = 0;
  for (const char* line : {
           "berth-0             leads",
           "person              kubectl apply MIGLayout/small",
           "agents' file        written by berth",
           "n1                  cordoned by berth for layout small (slot 1 of 1)",
           "n1                  empty after ",
           "n1                  mig-manager: pending",
           "n1                  offers nothing",
           "n1                  mig-manager: success",
           "n1                  offers 1g.10gb ×28",
           "n1                  verified: uncordoned by berth, in service again",
           "small               1 of 1 nodes updated",
           "small               Ready is True",
       }) {
    at = played.transcript.find(line, at);
    ASSERT_NE(at, std::string::npos) << line << "\n" << played.transcript;
  }
  EXPECT_THAT(played.end, HasSubstr("small   True   1      1        0            0        0"));
  EXPECT_THAT(played.end, HasSubstr("1g.10gb ×28"));
}

TEST(ScenarioRun, LeavesNoiseOut) {
  const Played played = play(small_scenario(1));
  for (const char* noise : {"lease", "Lease", "heartbeat", "gpu-operator/", "kube-system"})
    EXPECT_THAT(played.transcript, Not(HasSubstr(noise)));
}

TEST(ScenarioRun, SameSeedSameBytesAnotherSeedAnotherStory) {
  const std::string yaml = small_scenario(3, "workloads: [{name: chat, replicas: 2}]");
  const Played first = play(yaml, 7), again = play(yaml, 7), other = play(yaml, 8);
  EXPECT_EQ(first.transcript, again.transcript);
  EXPECT_EQ(first.json, again.json);
  EXPECT_EQ(first.end, again.end);
  EXPECT_NE(first.transcript, other.transcript);
}

TEST(ScenarioRun, GoesTheSameWayWhenNobodyListens) {
  const std::string yaml = small_scenario(2, "workloads: [{name: chat, replicas: 2}]");
  const Result<Scenario> scenario = parse_scenario(yaml, "scenario.yaml");
  ASSERT_TRUE(scenario.has_value());
  ScenarioRun alone(*scenario, 5);
  alone.run();
  const Played played = play(*scenario, 5);
  EXPECT_EQ(std::chrono::floor<std::chrono::milliseconds>(alone.elapsed()), played.elapsed);
  EXPECT_EQ(print_text(end_state(alone.simulation().store(), scenario->settings), played.outs),
            played.end);
}

TEST(ScenarioRun, TellsWhichBudgetIsInTheWayAndGoesOnOnceItIsLifted) {
  const Played played = play(small_scenario(1, R"(
workloads: [{name: chat, budget: {minAvailable: 1}}]
expect: {small: True})") + R"(
- {at: 3m, edit: pdb/team-a/chat, patch: {spec: {minAvailable: 0}}}
)");
  EXPECT_THAT(played.unsettled, IsEmpty()) << played.transcript;
  EXPECT_THAT(played.transcript, HasSubstr("may not be evicted now, says PodDisruptionBudget "
                                           "team-a/chat (1 of 1 pods needed are healthy)"));
  EXPECT_THAT(played.transcript, HasSubstr("n1                  waits (PodDisruptionBudget)"));
  EXPECT_THAT(played.transcript,
              HasSubstr("00:03:00  person              kubectl patch "
                        "PodDisruptionBudget/team-a/chat {\"spec\":{\"minAvailable\":0}}"));
  EXPECT_THAT(played.transcript, HasSubstr("sent away from n1 by berth"));
  EXPECT_THAT(played.end, HasSubstr("Pods that still wait: 1 (team-a/chat-"));
}

TEST(ScenarioRun, ACrashInTheMiddleChangesNothingInTheEnd) {
  const Played played = play(small_scenario(2) + R"(
- {whenPhase: Applying, node: n2, after: 2s, crash: leader}
)");
  EXPECT_THAT(played.unsettled, IsEmpty()) << played.transcript;
  EXPECT_THAT(played.transcript, HasSubstr("berth-0             crashes"));
  EXPECT_THAT(played.transcript, HasSubstr("leads, epoch 2"));
}

TEST(ScenarioRun, SaysWhyItDidNotEndAsExpected) {
  const Played bad = play(small_scenario(1, R"(
workloads: [{name: chat, budget: {minAvailable: 1}}]
patience: 5m)"));
  EXPECT_THAT(bad.unsettled, HasSubstr("layout small: Ready is False (PodDisruptionBudget"));
  EXPECT_LT(bad.elapsed, 10min) << "given up early";

  const Played as_expected = play(small_scenario(1, R"(
workloads: [{name: chat, budget: {minAvailable: 1}}]
expect: {small: False PodDisruptionBudget})"));
  EXPECT_THAT(as_expected.unsettled, IsEmpty());

  const Played never = play(small_scenario(1) + "\n- {whenPhase: RollingBack, crash: leader}\n");
  EXPECT_THAT(never.unsettled, HasSubstr("no node came to phase RollingBack, so \"crash\""));
}

TEST(ScenarioRun, PeoplesActsAreTold) {
  const Played played = play(small_scenario(2) + R"(
- {at: 500ms, hold: n2, reason: mine}
- {at: 2m, label: n2, set: {a: b, c: null}}
- {at: 3m, unhold: n2}
- {at: 3m, cordon: n1}
- {at: 4m, delete: miglayout/none}
)");
  EXPECT_THAT(played.transcript,
              HasSubstr("person              kubectl annotate node n2 gpu.berth.dev/hold=mine"));
  EXPECT_THAT(played.transcript, HasSubstr("n2                  waits (Held)"));
  EXPECT_THAT(played.transcript, HasSubstr("person              kubectl label node n2 a=b c-"));
  EXPECT_THAT(played.transcript, HasSubstr("person              kubectl cordon n1"));
  EXPECT_THAT(played.transcript, HasSubstr("kubectl delete MIGLayout/none: refused with 404"));
  EXPECT_THAT(played.end, HasSubstr("Ready,SchedulingDisabled"));
}

TEST(ScenarioRun, NodesEnterAndLeavePools) {
  const std::string yaml = R"(
nodes: [{name: n1, labels: {tier: lab}}]
timeline:
- at: 1s
  apply:
    apiVersion: gpu.berth.dev/v1alpha1
    kind: GPUClusterPolicy
    metadata: {name: cluster}
    spec:
      pools:
      - name: lab
        nodeSelector: {matchLabels: {tier: lab}}
        sharing: {strategy: TimeSlicing, replicas: 4}
)";
  const Played in = play(yaml);
  EXPECT_THAT(in.unsettled, IsEmpty());
  EXPECT_THAT(in.transcript, HasSubstr("n1                  enters pool lab"));
  EXPECT_THAT(in.transcript, HasSubstr("nvidia.com/device-plugin.config becomes lab-"));
  EXPECT_THAT(in.transcript, HasSubstr("cluster             Ready is True (PoolsInPlace)"));
  EXPECT_THAT(in.end, HasSubstr("16"));

  const Played gone = play(yaml + R"(
- {at: 5m50s, edit: gpupolicy/cluster, patch: {spec: {deletionPolicy: Remove}}}
- {at: 6m, delete: gpupolicy/cluster}
expect: {gpuclusterpolicy/cluster: Gone}
)");
  EXPECT_THAT(gone.unsettled, IsEmpty());
  EXPECT_THAT(gone.transcript, HasSubstr("n1                  leaves pool lab"));

  const Played missing = play(
      "nodes: [{}]\ntimeline: [{at: 1s, label: n1, set: {a: b}}]\n"
      "expect: {gpuclusterpolicy/cluster: True}\npatience: 2m\n");
  EXPECT_THAT(missing.unsettled, HasSubstr("gpuclusterpolicy/cluster: is not there"));
}

TEST(ScenarioRun, MachinesComeAndGo) {
  const Played played = play(small_scenario(2) + R"(
- {at: 4m, add-node: extra, gpus: 2}
- {at: 8m, remove-node: n1}
- {at: 8m, recreate-node: n2}
)");
  EXPECT_THAT(played.unsettled, IsEmpty()) << played.transcript;
  EXPECT_THAT(played.transcript, HasSubstr("person              adds node extra"));
  EXPECT_THAT(played.transcript, HasSubstr("n1                  is gone"));
  EXPECT_THAT(played.transcript, HasSubstr("n2                  is new: NVIDIA-A100-SXM4-80GB"));
  EXPECT_THAT(played.end, HasSubstr("1g.10gb ×14")) << "extra has two GPUs";
}

// Measured by the real sampler, from a Prometheus that the simulation has.
TEST(ScenarioRun, AGpuThatBreaksTakesItsNodeOutUntilItIsWell) {
  const Played played = play(R"(
prometheus: true
nodes: [{name: "n", count: 2, gpus: 2, labels: {tier: lab}}]
timeline:
- at: 1s
  apply:
    apiVersion: gpu.berth.dev/v1alpha1
    kind: GPUClusterPolicy
    metadata: {name: cluster}
    spec:
      pools: [{name: lab, nodeSelector: {matchLabels: {tier: lab}}}]
      metrics: {prometheus: {url: "http://prometheus.monitoring:9090"}}
      health: {action: Cordon, recoverAfter: 2m, maxUnhealthyFraction: "50%"}
- {at: 40s, gauges: n1, gpu: 1, xid: 79}
- {at: 4m, gauges: n2, gpu: 0, xid: 31, temperature: 50}
- {at: 6m, stop-exporter: n2}
- {at: 7m, start-exporter: n2}
)");
  EXPECT_THAT(played.unsettled, IsEmpty()) << played.transcript;
  std::size_t at = 0;
  for (const char* line : {
           "n1                  its GPU 1 shows: xid 79",
           "n1                  cordoned by berth",
           "n1                  uncordoned by berth",
           "n2                  its GPU 0 shows: xid 31, temperature 50",
           "n2                  its dcgm-exporter ends",
           "n2                  its dcgm-exporter starts",
       }) {
    at = played.transcript.find(line, at);
    ASSERT_NE(at, std::string::npos) << line << "\n" << played.transcript;
  }
  EXPECT_THAT(played.transcript, Not(HasSubstr("n2                  cordoned")));
}

TEST(ScenarioRun, CountsWhatNodesWereOutFor) {
  const Played played = play(small_scenario(2, "settings: {settle: 10s, verifyFor: 1m}"));
  ASSERT_EQ(played.outs.size(), 2u);
  for (const NodeOut& out : played.outs) {
    EXPECT_EQ(out.end, NodeOut::End::kRepartitioned);
    EXPECT_GE(out.drain, 10s);
    EXPECT_GE(out.verify, 1min);
    EXPECT_LT(out.total(), 4min);
  }
  EXPECT_GE(played.outs[1].taken, played.outs[0].taken + played.outs[0].total());
}

TEST(ScenarioRun, ReportsForMachines) {
  const Played played = play(small_scenario(1));
  EXPECT_THAT(played.json, HasSubstr(R"("kind": "SimulationReport")"));
  EXPECT_THAT(played.json, HasSubstr(R"("settled": true)"));
  EXPECT_THAT(played.json, HasSubstr(R"("text": "kubectl apply MIGLayout/small")"));
  EXPECT_THAT(played.json, HasSubstr(R"("end": "Repartitioned")"));
}

}  // namespace
}  // namespace berth::test
