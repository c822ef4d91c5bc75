// SPDX-License-Identifier: Apache-2.0
// Pods that no eviction moves from a node: those that belong to it, and those that come back.
#include "controller/disruption/drain.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apis/base/names.h"
#include "controller/mig/drain_steps.h"
#include "tests/mig/planned_cluster.h"

namespace berth::test {
namespace {

using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::HasSubstr;

const Toleration kEverything{"", "Exists", "", ""};
const Toleration kCordon{"node.kubernetes.io/unschedulable", "Exists", "", "NoSchedule"};
const Toleration kGpu{"nvidia.com/gpu", "Exists", "", "NoSchedule"};

struct PodsInTheWay : ::testing::Test {
  PodsInTheWay() { world.add_nodes(2); }
  Node n1() { return *world.cluster.nodes().find("n1"); }
  // "Evict", or "Blocked REASON: message" of the only pod there.
  std::string verdict() {
    const auto verdicts = pods_leaving(world.snapshot(), *world.cluster.nodes().find("n1"), drain);
    if (verdicts.empty()) return "left alone";
    if (verdicts[0].fate == PodFate::kBlocked)
      return fmt::format("Blocked {}: {}", verdicts[0].cause.reason, verdicts[0].cause.message);
    return verdicts[0].fate == PodFate::kEvict         ? "Evict"
           : verdicts[0].fate == PodFate::kTerminating ? "Terminating"
                                                       : "Awaited";
  }
  Pod tolerant(const Toleration& toleration, const std::string& hostname = "") {
    Pod pod = test::pod("web").gpu(1).on("n1");
    pod.shape.edit()->tolerations = {toleration};
    if (!hostname.empty()) pod.shape.edit()->node_selector.set("kubernetes.io/hostname", hostname);
    return pod;
  }
  void cordon(bool by_berth = true) {
    Node node =
        on_its_way(n1(), layout("small"), "berth-small-1", RolloutPhase::kCordoned, world.now);
    NodeRollout rollout = *read_rollout(node).rollout;
    rollout.berth_cordoned = by_berth;
    node.meta.annotations.set(names::kRolloutAnnotation, encode_rollout(rollout));
    world.add(node);
  }
  PlannedCluster world;
  DrainSpec drain;
};

// --- pods that belong to the node ---

TEST_F(PodsInTheWay, ADaemonSetsPodThatHoldsGpusIsNamed) {
  world.add(pod("probe-x").gpu(1).on("n1").owner("DaemonSet", "probe"));
  EXPECT_THAT(verdict(), AllOf(HasSubstr("Blocked PodStays: pod team-a/probe-x holds GPUs"),
                               HasSubstr("DaemonSet probe brings it back")));
}

TEST_F(PodsInTheWay, SoIsAStaticPod) {
  world.add(pod("local").gpu(1).on("n1").unmanaged().annotation(names::kMirrorAnnotation, "x"));
  EXPECT_THAT(verdict(), HasSubstr("Blocked PodStays: pod team-a/local holds GPUs, and is static"));
  drain.force = true;
  EXPECT_THAT(verdict(), HasSubstr("Blocked PodStays"));
  // The mirror pod: its node owns it.
  world.add(
      pod("local").gpu(1).on("n1").owner("Node", "n1").annotation(names::kMirrorAnnotation, "x"));
  EXPECT_THAT(verdict(), HasSubstr("holds GPUs, and is static"));
}

TEST_F(PodsInTheWay, OneThatHoldsAnyOfNvidiasResourcesHoldsGpus) {
  world.add(pod("probe-x")
                .gpu(1)
                .requests("nvidia.com/mig-1g.10gb", 0)
                .on("n1")
                .owner("DaemonSet", "probe"));
  EXPECT_THAT(verdict(), HasSubstr("Blocked PodStays"));
  world.add(pod("probe-x")
                .gpu(0)
                .requests("nvidia.com/mig-1g.10gb", 1)
                .on("n1")
                .owner("DaemonSet", "probe"));
  EXPECT_THAT(verdict(), HasSubstr("Blocked PodStays"));
}

TEST_F(PodsInTheWay, OthersThatStayAreLeftAlone) {
  const Pod rows[] = {
      pod("exporter").on("n1").owner("DaemonSet", "dcgm"),      // only monitors, and holds nothing
      pod("zero").gpu(0).on("n1").owner("DaemonSet", "probe"),  //
      pod("validator").gpu(1).on("n1").in("gpu-operator").owner("DaemonSet", "validator"),
      pod("done").gpu(1).on("n1").owner("DaemonSet", "probe").phase(PodPhase::kSucceeded),
  };
  for (const Pod& row : rows) {
    world.add(row);
    EXPECT_EQ(verdict(), "left alone") << row.meta.name;
  }
}

TEST_F(PodsInTheWay, OneThatIsOnItsWayOutIsWaitedFor) {
  world.add(pod("probe-x").gpu(1).on("n1").owner("DaemonSet", "probe").terminating());
  EXPECT_EQ(verdict(), "Terminating");
}

TEST_F(PodsInTheWay, TheLiveLookBeforeACutSeesThemToo) {
  const Settings settings;
  EXPECT_TRUE(is_in_the_way(pod("web").gpu(1), drain, settings));
  EXPECT_TRUE(is_in_the_way(pod("p").gpu(1).owner("DaemonSet", "probe"), drain, settings));
  EXPECT_FALSE(is_in_the_way(pod("p").owner("DaemonSet", "probe"), drain, settings));
}

TEST_F(PodsInTheWay, NoForceDeletesThem) {
  drain.on_timeout = OnTimeout::kForce;
  world.add(pod("probe-x").gpu(1).on("n1").owner("DaemonSet", "probe"));
  Plan plan;
  const Time long_ago = world.now - std::chrono::hours(9);
  EXPECT_TRUE(plan_drain(world.snapshot(), n1(), drain, long_ago, plan).timed_out);
  EXPECT_EQ(print(plan), "");
}

// --- pods that come back ---

TEST_F(PodsInTheWay, ATolerantPodThatFitsNowhereElseIsFoundBeforeTheCordon) {
  for (const Toleration& toleration : {kEverything, kCordon}) {
    world.add(tolerant(toleration, "n1"));
    EXPECT_THAT(verdict(), AllOf(HasSubstr("Blocked ToleratesCordon: pod team-a/web tolerates a "
                                           "cordon and can run nowhere else"),
                                 HasSubstr("node.kubernetes.io/unschedulable")));
  }
  Pod by_affinity = tolerant(kEverything);
  by_affinity.shape.edit()->required_node_affinity = {
      {{}, {{Text("metadata.name"), SelectorOperator::kIn, {Text("n1")}}}}};
  world.add(by_affinity);
  EXPECT_THAT(verdict(), HasSubstr("Blocked ToleratesCordon"));
}

TEST_F(PodsInTheWay, OneThatACordonKeepsAwayOrThatFitsElsewhereIsEvicted) {
  world.add(tolerant(kGpu, "n1"));
  EXPECT_EQ(verdict(), "Evict") << "its successor waits for the node";
  world.add(tolerant(kEverything));
  EXPECT_EQ(verdict(), "Evict") << "n2 may take it";
  Pod large = tolerant(kEverything);
  large.shape.edit()->requests.set("nvidia.com/gpu", Quantity::whole(4));
  world.add(large);
  EXPECT_EQ(verdict(), "Evict");
  world.add(Node(node("n2").a100_80(2).label("tier", "mig")));
  EXPECT_THAT(verdict(), HasSubstr("Blocked ToleratesCordon")) << "n2 is too small for it";
}

TEST_F(PodsInTheWay, WhereATolerantPodMayRunIsAskedOfTaintsAndGpusAlone) {
  Pod busy = tolerant(kCordon);
  busy.shape.edit()->requests.set("cpu", Quantity::whole(1000));
  world.add(busy);
  EXPECT_EQ(verdict(), "Evict") << "what else it needs is the scheduler's to find";
  world.add(Node(node("n2").a100_80(4).taint("team", "NoSchedule")));
  EXPECT_THAT(verdict(), HasSubstr("Blocked ToleratesCordon"));
}

struct Successor {
  const char* sentence;
  int made_after_s;  // after the cordon
  bool by_berth;
  bool tolerant;
  const char* verdict;
};

TEST_F(PodsInTheWay, ASecondSuccessorIsNotEvicted) {
  const Successor rows[] = {
      {"made before the cordon", -60, true, false, "Evict"},
      {"a first one, which may have been on its way", 1, true, false, "Evict"},
      {"the last that may have been on its way", 4, true, false, "Evict"},
      {"the first that can't have been", 5, true, false, "Blocked ToleratesCordon"},
      {"one that came in spite of the cordon", 6, true, false, "Blocked ToleratesCordon"},
      {"the same, which the cordon never concerned", 6, true, true, "Blocked ToleratesCordon"},
      {"anybody lands on a node that is not berth's to keep", 6, false, false, "Evict"},
      {"but those whom no cordon keeps away", 6, false, true, "Blocked ToleratesCordon"},
  };
  for (const Successor& row : rows) {
    SCOPED_TRACE(row.sentence);
    cordon(row.by_berth);
    Pod pod = row.tolerant ? tolerant(kEverything) : test::pod("web").gpu(1).on("n1");
    pod.meta.creation_timestamp = world.now + seconds(row.made_after_s);
    world.add(pod);
    EXPECT_THAT(verdict(), ::testing::StartsWith(row.verdict));
  }
}

TEST_F(PodsInTheWay, OnlyBerthsCordonOfANodeThatIsStillEmptiedKeepsOthersAway) {
  Pod pod = test::pod("web").gpu(1).on("n1");
  pod.meta.creation_timestamp = world.now + seconds(6);
  world.add(pod);
  cordon();
  EXPECT_THAT(verdict(), ::testing::StartsWith("Blocked ToleratesCordon"));
  Node uncordoned = n1();
  uncordoned.unschedulable.reset();
  world.add(uncordoned);
  EXPECT_EQ(verdict(), "Evict");
  world.add(on_its_way(n1(), layout("small"), "berth-small-1", RolloutPhase::kApplying, world.now));
  EXPECT_EQ(verdict(), "Evict");
}

TEST_F(PodsInTheWay, ASuccessorOfTheCordonsOwnSecondWaitsLikeAnyOther) {
  cordon();
  Pod pod = test::pod("web").gpu(1).on("n1");
  pod.meta.creation_timestamp = world.now;
  world.add(pod);
  const auto verdicts = pods_leaving(world.snapshot(), n1(), drain);
  ASSERT_EQ(verdicts.size(), 1u);
  EXPECT_EQ(verdicts[0].not_before, world.now + world.settings.settle);
}

TEST_F(PodsInTheWay, TheFirstSuccessorLeavesOnceBindingsInFlightHaveLanded) {
  cordon();
  Pod pod = test::pod("web").gpu(1).on("n1");
  pod.meta.creation_timestamp = world.now + seconds(1);
  world.add(pod);
  const Time since = world.now;
  world.now += seconds(2);
  Plan early;
  plan_drain(world.snapshot(), n1(), drain, since, early);
  EXPECT_EQ(print(early), "requeue in 3000ms\n");
  world.now += seconds(3);
  Plan later;
  plan_drain(world.snapshot(), n1(), drain, since, later);
  EXPECT_THAT(print(later), HasSubstr("evict Pod/team-a/web"));
}

TEST_F(PodsInTheWay, OnceGivenUpForItTheNodeIsNotTriedWhileSuchAPodIsThere) {
  NodeRollout idle;
  idle.seq = 1;
  idle.cause = "ToleratesCordon";
  Node node = n1();
  node.meta.annotations.set(names::kRolloutAnnotation, encode_rollout(idle));
  world.add(node).add(tolerant(kEverything));
  EXPECT_THAT(verdict(), HasSubstr("came back when the node was last drained"));
  world.add(tolerant(kGpu));
  EXPECT_EQ(verdict(), "Evict");
  idle.cause = "PodsLeaving";
  node.meta.annotations.set(names::kRolloutAnnotation, encode_rollout(idle));
  world.add(node).add(tolerant(kEverything));
  EXPECT_EQ(verdict(), "Evict") << "it was given up for something else";
}

TEST_F(PodsInTheWay, APodWithoutAControllerHasNoSuccessor) {
  drain.force = true;
  Pod lone = tolerant(kEverything, "n1");
  lone.meta.owner_references.clear();
  world.add(lone);
  EXPECT_EQ(verdict(), "Evict");
}

}  // namespace
}  // namespace berth::test
