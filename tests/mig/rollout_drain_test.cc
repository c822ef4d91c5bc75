// SPDX-License-Identifier: Apache-2.0
// Pods in the way: budgets, Jobs, pods without a controller, pods that end by themselves.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/mig/rollout_world.h"

namespace berth::test {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// One node with what the case puts on it, and one more so that its pods have somewhere to go.
RolloutWorld two_nodes() {
  RolloutWorld world;
  world.add(node("n1").a100_80(4).label("tier", "mig"));
  world.add(node("spare").a100_80(4));
  world.add(layout("small"));
  return world;
}

TEST(Drain, ANodeWhoseBudgetIsClosedWaitsUncordonedWithTheBudgetsName) {
  RolloutWorld world = two_nodes();
  world.add(pod("web").gpu(1).on("n1").label("app", "web")).add(budget("pdb-web", "app", "web", 0));
  world.run_for(minutes(10));
  EXPECT_FALSE(world.node("n1").cordoned());
  EXPECT_THAT(world.detail("small", "n1"), HasSubstr("Waiting PodDisruptionBudget: "
                                                     "PodDisruptionBudget pdb-web"));
  EXPECT_THAT(world.condition("small", "Stalled"), HasSubstr("n1: PodDisruptionBudget pdb-web"));
  EXPECT_EQ(world.count_writes("evict "), 0) << "no eviction is spent on it";

  world.change_budget("pdb-web", 1);
  EXPECT_TRUE(world.run_until_ready("small")) << world.details("small");
  EXPECT_THAT(world.broken, IsEmpty());
}

TEST(Drain, ADrainThatCannotEndIsGivenUpAfterItsTimeoutWithBackoff) {
  RolloutWorld world = two_nodes();
  world.change_layout("small", [](MIGLayoutSpec& s) {
    s.drain.wait_for_completion = WaitForCompletion{LabelSelector{{{"job", "long"}}, {}}, hours(1)};
  });
  world.add(pod("train").gpu(1).on("n1").label("job", "long"));
  ASSERT_TRUE(world.run_until([&] { return world.phase("n1") == "Cordoned"; }));
  EXPECT_THAT(world.detail("small", "n1"), HasSubstr("Draining PodsLeaving"));
  world.run_for(minutes(59));
  EXPECT_TRUE(world.node("n1").cordoned()) << "drain.timeout does not hold for such a pod";
  world.run_for(minutes(2));
  EXPECT_FALSE(world.node("n1").cordoned());
  EXPECT_THAT(world.detail("small", "n1"), HasSubstr("Waiting BackingOff"));
  EXPECT_EQ(world.count_writes("evict "), 0);
  EXPECT_EQ(world.ledger(), "");

  world.remove_pod("train");
  EXPECT_TRUE(world.run_until_ready("small"));
  EXPECT_THAT(world.broken, IsEmpty());
}

TEST(Drain, APodThatIsWaitedForEndsByItselfOnTheCordonedNode) {
  RolloutWorld world = two_nodes();
  world.change_layout("small", [](MIGLayoutSpec& s) {
    s.drain.wait_for_completion = WaitForCompletion{LabelSelector{{{"job", "long"}}, {}}, hours(4)};
  });
  world.add(job("train", 0)).add(pod("train").gpu(1).on("n1").job("train").label("job", "long"));
  world.run_for(hours(1));
  EXPECT_EQ(world.phase("n1"), "Cordoned");
  world.add(
      pod("train").gpu(1).on("n1").job("train").label("job", "long").phase(PodPhase::kSucceeded));
  EXPECT_TRUE(world.run_until_ready("small"));
  EXPECT_EQ(world.count_writes("evict "), 0);
  EXPECT_THAT(world.broken, IsEmpty());
}

TEST(Drain, TwoBudgetsOnOnePodAreToldApartAndNamed) {
  RolloutWorld world = two_nodes();
  world.add(pod("web").gpu(1).on("n1").label("app", "web"));
  world.add(budget("pdb-a", "app", "web", 1)).add(budget("pdb-b", "app", "web", 1));
  world.run_for(minutes(5));
  EXPECT_FALSE(world.node("n1").cordoned());
  EXPECT_THAT(world.detail("small", "n1"),
              HasSubstr("Waiting PodDisruptionBudget: 2 PodDisruptionBudgets (pdb-a, pdb-b)"));
}

TEST(Drain, AnotherNodeGoesWhileOneCannotBeEmptied) {
  RolloutWorld world;
  world.add_nodes(3);
  for (const char* name : {"n1", "n2", "n3"})
    world.add(pod(std::string("web-") + name).gpu(1).on(name).label("on", name));
  world.add(budget("pdb", "on", "n1", 0)).add(layout("small").retire("nvidia.com/gpu"));
  world.run_for(hours(1));
  EXPECT_EQ(world.counts("small"),
            "selected 3 updated 2 inProgress 0 blocked 1 failed 0 pending 0");
  EXPECT_THAT(world.detail("small", "n1"), HasSubstr("PodDisruptionBudget"));
  EXPECT_THAT(world.broken, IsEmpty());
}

TEST(Drain, AJobWithoutRetriesIsWaitedForAndNotFailed) {
  RolloutWorld world = two_nodes();
  world.add(job("train", 0)).add(pod("train").gpu(1).on("n1").job("train"));
  world.run_for(minutes(10));
  EXPECT_FALSE(world.node("n1").cordoned());
  EXPECT_THAT(world.detail("small", "n1"), HasSubstr("Waiting JobRunning: Job team-a/train"));
  world.remove_pod("train");
  EXPECT_TRUE(world.run_until_ready("small"));
  EXPECT_THAT(world.broken, IsEmpty());
}

TEST(Drain, PodsOfOneJobOnTheNodeCountTogether) {
  RolloutWorld world = two_nodes();
  world.add(job("train", 1));
  world.add(pod("train-1").gpu(1).on("n1").job("train"));
  world.add(pod("train-2").gpu(1).on("n1").job("train"));
  world.run_for(minutes(10));
  EXPECT_THAT(world.detail("small", "n1"), HasSubstr("it has 1 of 1 retries left for 2 pods"));
  world.remove_pod("train-2");
  EXPECT_TRUE(world.run_until_ready("small"));
  EXPECT_THAT(world.broken, IsEmpty());
}

TEST(Drain, AJobThatIgnoresDisruptionsIsEvictedAndRunsAgainElsewhere) {
  RolloutWorld world = two_nodes();
  Job tolerant = job("train", 0);
  tolerant.ignores_disruptions = true;
  world.add(tolerant).add(pod("train").gpu(1).on("n1").job("train"));
  EXPECT_TRUE(world.run_until_ready("small"));
  EXPECT_EQ(world.count_writes("evict Pod/team-a/train"), 1);
  EXPECT_EQ(world.cluster.pods_on("spare").size(), 1u);
  EXPECT_THAT(world.broken, IsEmpty());
}

struct Blocked {
  const char* sentence;
  Pod pod;
  const char* reason;
  std::function<void(MIGLayoutSpec&)> allow;
};

TEST(Drain, APodThatMayNotLeaveMakesItsNodeWaitUncordonedUntilItMay) {
  const Blocked cases[] = {
      {"a pod without a controller needs force", pod("p").gpu(1).on("n1").unmanaged(),
       "UnmanagedPod", [](MIGLayoutSpec& s) { s.drain.force = true; }},
      {"an emptyDir needs deleteEmptyDirData", pod("p").gpu(1).on("n1").empty_dir(), "LocalStorage",
       [](MIGLayoutSpec& s) { s.drain.delete_empty_dir_data = true; }},
  };
  for (const Blocked& c : cases) {
    SCOPED_TRACE(c.sentence);
    RolloutWorld world = two_nodes();
    world.change_layout("small", [](MIGLayoutSpec& s) { s.drain.delete_empty_dir_data = false; });
    world.add(c.pod);
    world.run_for(minutes(5));
    EXPECT_FALSE(world.node("n1").cordoned());
    EXPECT_THAT(world.detail("small", "n1"), HasSubstr(std::string("Waiting ") + c.reason));
    world.change_layout("small", c.allow);
    EXPECT_TRUE(world.run_until_ready("small"));
    EXPECT_THAT(world.broken, IsEmpty());
  }
}

TEST(Drain, WhatIsNoneOfItsBusinessIsLeftAlone) {
  RolloutWorld world = two_nodes();
  world.add(pod("agent").gpu(1).on("n1").owner("DaemonSet", "ds"));
  world.add(pod("mirror").gpu(1).on("n1").annotation(names::kMirrorAnnotation, "x"));
  world.add(pod("done").gpu(1).on("n1").phase(PodPhase::kSucceeded));
  world.add(pod("cpu").requests("cpu", 1).on("n1"));
  world.add(pod("zero").gpu(0).on("n1"));
  world.add(pod("validator").gpu(1).on("n1").in("gpu-operator"));
  EXPECT_TRUE(world.run_until_ready("small")) << world.details("small");
  EXPECT_EQ(world.count_writes("evict "), 0);
  EXPECT_THAT(world.broken, IsEmpty());
}

TEST(Drain, UnderScopeAllPodsPodsWithoutGpusLeaveToo) {
  RolloutWorld world = two_nodes();
  world.change_layout("small", [](MIGLayoutSpec& s) { s.drain.scope = DrainScope::kAllPods; });
  world.add(pod("cpu").on("n1"));
  EXPECT_TRUE(world.run_until_ready("small"));
  EXPECT_EQ(world.count_writes("evict Pod/team-a/cpu"), 1);
}

TEST(Drain, ForceDeletesWithTheGracePeriodAfterTheTimeout) {
  RolloutWorld world = two_nodes();
  world.change_layout("small", [](MIGLayoutSpec& s) {
    s.drain.on_timeout = OnTimeout::kForce;
    s.drain.grace_period_seconds = 0;
    s.drain.wait_for_completion = WaitForCompletion{LabelSelector{{{"a", "b"}}, {}}, minutes(30)};
  });
  world.add(pod("web").gpu(1).on("n1").label("a", "b"));
  ASSERT_TRUE(world.run_until([&] { return world.phase("n1") == "Cordoned"; }));
  world.run_for(minutes(30) - seconds(1));
  EXPECT_EQ(world.count_writes("delete Pod"), 0);
  EXPECT_TRUE(world.run_until_ready("small"));
  EXPECT_EQ(world.count_writes("delete Pod/team-a/web"), 1);
  EXPECT_THAT(world.broken, IsEmpty());
}

TEST(Drain, ABudgetThatClosesInMidDrainIsWaitedOutAndThenTheNodeIsPutBack) {
  RolloutWorld world = two_nodes();
  world.add(pod("web").gpu(1).on("n1").label("app", "web"));
  world.add(budget("pdb-web", "app", "web", 1));
  world.after_write = [&](const std::string& write) {
    if (write.find("cordon for") != write.npos) world.change_budget("pdb-web", 0);
  };
  world.run_for(minutes(19));
  EXPECT_EQ(world.phase("n1"), "Cordoned");
  EXPECT_THAT(world.detail("small", "n1"), HasSubstr("Draining PodDisruptionBudget"));
  world.run_for(minutes(2));
  EXPECT_FALSE(world.node("n1").cordoned());
  EXPECT_EQ(world.ledger(), "");
  EXPECT_EQ(world.count_writes("evict "), 0) << "the dry run before each eviction says no";
  world.after_write = nullptr;
  world.change_budget("pdb-web", 1);
  EXPECT_TRUE(world.run_until_ready("small")) << world.details("small");
  EXPECT_THAT(world.broken, IsEmpty());
}

}  // namespace
}  // namespace berth::test
