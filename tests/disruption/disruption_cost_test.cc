// SPDX-License-Identifier: Apache-2.0
// The cost of a node's drain.
#include "controller/disruption/disruption_cost.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controller/disruption/pod_groups.h"
#include "tests/mig/planned_cluster.h"

namespace berth::test {
namespace {

using namespace std::chrono_literals;

struct DisruptionCostTest : ::testing::Test {
  DisruptionCostTest() { world.add_nodes(3); }
  Disruption cost(const char* node = "n1") {
    const Snapshot snapshot = world.snapshot();
    return DisruptionCost(snapshot).of(snapshot.cluster.occupants_of(node), drain);
  }
  std::int64_t homeless(const char* node = "n1") {
    const Snapshot snapshot = world.snapshot();
    return DisruptionCost(snapshot).homeless(*snapshot.cluster.nodes().find(node),
                                             snapshot.cluster.occupants_of(node), drain);
  }
  PlannedCluster world;
  DrainSpec drain;
};

TEST_F(DisruptionCostTest, IsToldInWords) {
  EXPECT_EQ(describe(Disruption{}), "no pod has to leave");
  EXPECT_EQ(describe({.pods = true, .priority = 5, .ended = 1, .lost_gpu_seconds = 3600}),
            "1 pod ends, of priority 5 at most, 1h of GPU work since checkpoints");
  EXPECT_EQ(describe({.pods = true, .ended = 2}),
            "2 pods end, of priority 0 at most, 0s of GPU work since checkpoints");
}

TEST_F(DisruptionCostTest, CountsWhatHasToLeaveAndTheirHighestPriority) {
  EXPECT_EQ(cost(), Disruption{});
  world.add(pod("a").gpu(1).on("n1").priority(-7)).add(pod("cpu").on("n1").priority(100));
  EXPECT_EQ(cost(), (Disruption{.pods = true, .priority = -7, .ended = 1}));
  world.add(pod("b").gpu(1).on("n1").priority(-3)).add(pod("c").gpu(1).on("n1").priority(-9));
  EXPECT_EQ(cost(), (Disruption{.pods = true, .priority = -3, .ended = 3}));
  drain.scope = DrainScope::kAllPods;
  EXPECT_EQ(cost(), (Disruption{.pods = true, .priority = 100, .ended = 4}));
}

TEST_F(DisruptionCostTest, AGangEndsOnceWithAllItsMembers) {
  for (const char* name : {"g1", "g2", "g3"})
    world.add(pod(name)
                  .gpu(1)
                  .on(name == std::string_view("g3") ? "n2" : "n1")
                  .label(names::kPodGroupLabel, "g"));
  EXPECT_EQ(cost().ended, 3) << "n2's too";
  world.add(pod("other").gpu(1).on("n1").in("team-b").label(names::kPodGroupLabel, "g"));
  EXPECT_EQ(cost().ended, 4) << "another team's group of that name";
  world.add(pod("h").gpu(1).on("n1").label(names::kPodGroupLabel, "h"));
  EXPECT_EQ(cost().ended, 5);
}

TEST_F(DisruptionCostTest, AJobIsAGangOfItsParallelism) {
  Job train = job("train", 6);
  train.parallelism = 8;
  world.add(train);
  for (const char* name : {"p1", "p2"}) world.add(pod(name).gpu(1).on("n1").job("train"));
  EXPECT_EQ(cost().ended, 8);
  train.parallelism = 0;
  world.add(train);
  EXPECT_EQ(cost().ended, 1);
  world.cluster.erase<Job>("team-a", "train");
  EXPECT_EQ(cost().ended, 1) << "one that is not known is its pod";
}

TEST_F(DisruptionCostTest, WorkIsLostSinceTheCheckpointOnEachGpu) {
  world.add(pod("a").gpu(2).on("n1").started(world.now - 100s));
  world.add(pod("b").gpu(1).on("n1").started(world.now - 10s));
  EXPECT_EQ(cost().lost_gpu_seconds, 210);
  world.add(pod("c").gpu(1).on("n1").started(world.now + 10s));
  EXPECT_EQ(cost().lost_gpu_seconds, 210) << "a clock that is ahead loses nothing";
  world.add(pod("d").gpu(1).on("n1"));
  EXPECT_EQ(cost().lost_gpu_seconds, 210) << "nor what has not started";
}

TEST_F(DisruptionCostTest, APodIsHomelessThatFitsOnNoOtherNodeInService) {
  world.add(pod("a").gpu(4).on("n1"));
  EXPECT_EQ(homeless(), 0);
  world.add(pod("b").gpu(1).on("n2")).add(pod("c").gpu(2).on("n3"));
  EXPECT_EQ(homeless(), 1) << "3 of n2's GPUs are the most there is";
  world.add(pod("a").gpu(3).on("n1"));
  EXPECT_EQ(homeless(), 0);
  world.add(node("n2").a100_80(4).label("tier", "mig").cordoned());
  EXPECT_EQ(homeless(), 1) << "n2 takes nothing";
  world.add(pod("x").requests("nvidia.com/mig-1g.10gb", 1).on("n1"));
  EXPECT_EQ(homeless(), 2) << "nobody offers that";
  world.add(pod("a").gpu(0).on("n1"));
  EXPECT_EQ(homeless(), 1) << "and what asks for nothing needs nothing";
}

TEST_F(DisruptionCostTest, TheRoomOnTheNodeItselfIsNoRoomElsewhere) {
  // n1 has the most free GPUs; n2 and n3 have two each.
  world.add(pod("a").gpu(1).on("n1"));
  world.add(pod("b").gpu(2).on("n2")).add(pod("c").gpu(2).on("n3"));
  EXPECT_EQ(homeless(), 0);
  world.add(pod("a").gpu(3).on("n1"));
  EXPECT_EQ(homeless("n1"), 1);
  world.add(pod("a").gpu(1).on("n1")).add(pod("b").gpu(3).on("n2"));
  EXPECT_EQ(homeless("n2"), 0) << "n1 has three free";
  world.add(pod("b").gpu(4).on("n2"));
  EXPECT_EQ(homeless("n2"), 1);
}

TEST_F(DisruptionCostTest, TheRoomOfALargeNodeIsNotASmallOnes) {
  world = PlannedCluster();
  world.add(node("n1").a100_80(8)).add(node("n2").a100_80(2));
  world.add(pod("a").gpu(3).on("n1"));
  EXPECT_EQ(homeless("n1"), 1);
  const Snapshot snapshot = world.snapshot();
  DisruptionCost cost(snapshot);
  for (const char* again : {"first", "again"})
    EXPECT_EQ(cost.homeless(*snapshot.cluster.nodes().find("n1"),
                            snapshot.cluster.occupants_of("n1"), drain),
              1)
        << again;
}

TEST_F(DisruptionCostTest, PodsThatStayAreNotAskedAfter) {
  world.add(pod("a").gpu(4).on("n1").owner("DaemonSet", "probe"));
  world.add(pod("b").gpu(4).on("n2")).add(pod("c").gpu(4).on("n3"));
  EXPECT_EQ(homeless(), 0);
  EXPECT_EQ(cost(), Disruption{});
}

TEST(PodGroupsTest, LoseTheirPodsOneByOne) {
  ClusterState cluster;
  const auto size = [&] { return cluster.view<PodGroups>().size_of("team-a", "ring"); };
  (void)cluster.view<PodGroups>();
  for (const char* name : {"a", "b"})
    cluster.upsert(Pod(pod(name).on("n1").label(names::kPodGroupLabel, "ring")), {});
  EXPECT_EQ(size(), 2);
  cluster.upsert(
      Pod(pod("a").on("n1").label(names::kPodGroupLabel, "ring").phase(PodPhase::kSucceeded)), {});
  EXPECT_EQ(size(), 1);
  cluster.erase<Pod>("team-a", "b");
  EXPECT_EQ(size(), 0);
  cluster.upsert(Pod(pod("c").on("n1").label(names::kPodGroupLabel, "ring")), {});
  EXPECT_EQ(size(), 1) << "and none below zero";
}

}  // namespace
}  // namespace berth::test
