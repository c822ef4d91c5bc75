// SPDX-License-Identifier: Apache-2.0
// The layout changes while its rollout is under way: paused, edited, deleted, overlapped; and the
// budget, the guard and the checks before the first touch.
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

// n1 is being drained: its pod terminates for two seconds, and bindings settle for five.
RolloutWorld in_mid_drain() {
  RolloutWorld world;
  world.add_nodes(2);
  world.add(layout("small").retire("nvidia.com/gpu"));
  EXPECT_TRUE(world.run_until([&] { return world.phase("n1") == "Cordoned"; }));
  return world;
}

RolloutWorld in_mid_apply() {
  RolloutWorld world = in_mid_drain();
  EXPECT_TRUE(world.run_until([&] { return world.phase("n1") == "Applying"; }));
  return world;
}

TEST(Spec, PausedInMidDrainTheNodeIsPutBackAndUnpausedItGoesOn) {
  RolloutWorld world = in_mid_drain();
  world.change_layout("small", [](MIGLayoutSpec& s) { s.rollout.paused = true; });
  world.run_for(minutes(10));
  EXPECT_EQ(world.phase("n1"), "Idle");
  EXPECT_FALSE(world.node("n1").cordoned());
  EXPECT_EQ(world.ledger(), "");
  EXPECT_EQ(world.details("small"), "n1 Waiting Paused\nn2 Waiting Paused\n");
  EXPECT_THAT(world.condition("small", "Ready"), HasSubstr("Paused"));
  world.change_layout("small", [](MIGLayoutSpec& s) { s.rollout.paused = false; });
  EXPECT_TRUE(world.run_until_ready("small"));
  EXPECT_THAT(world.broken, IsEmpty());
}

TEST(Spec, PausedInMidApplyTheNodeFinishesAndNoOtherStarts) {
  RolloutWorld world = in_mid_apply();
  world.change_layout("small", [](MIGLayoutSpec& s) { s.rollout.paused = true; });
  world.run_for(minutes(10));
  EXPECT_EQ(world.counts("small"),
            "selected 2 updated 1 inProgress 0 blocked 0 failed 0 pending 1");
  EXPECT_FALSE(world.node("n1").cordoned());
  EXPECT_THAT(world.broken, IsEmpty());
}

TEST(Spec, EditedInMidDrainTheNodeIsReaimedWithoutBeingPutBack) {
  RolloutWorld world = in_mid_drain();
  world.change_layout("small", [](MIGLayoutSpec& s) { s.devices[0].profiles = {{"2g.20gb", 3}}; });
  ASSERT_TRUE(world.run_until_ready("small"));
  EXPECT_EQ(world.offered("n1", "nvidia.com/mig-2g.20gb"), 12);
  EXPECT_EQ(world.count_writes("restore"), 0);
  EXPECT_EQ(world.count_writes("n1: apply"), 1);
  EXPECT_THAT(world.broken, IsEmpty());
}

TEST(Spec, EditedBackInMidDrainTheNodeIsPutBack) {
  RolloutWorld world;
  world.add_nodes(1);
  world.add(layout("small"));
  ASSERT_TRUE(world.run_until_ready("small"));
  world.change_layout("small", [](MIGLayoutSpec& s) { s.devices[0].profiles = {{"2g.20gb", 3}}; });
  ASSERT_TRUE(world.run_until([&] { return world.phase("n1") == "Cordoned"; }));
  world.change_layout("small", [](MIGLayoutSpec& s) { s.devices[0].profiles = {{"1g.10gb", 7}}; });
  ASSERT_TRUE(world.run_until_ready("small"));
  EXPECT_EQ(world.count_writes("restore: the node has what the layout asks for"), 1);
  EXPECT_EQ(world.count_writes("n1: apply"), 1);
  EXPECT_THAT(world.broken, IsEmpty());
}

TEST(Spec, EditedInMidApplyTheNodeFinishesAndGoesOnWithoutBeingUncordoned) {
  RolloutWorld world = in_mid_apply();
  world.change_layout("small", [](MIGLayoutSpec& s) { s.devices[0].profiles = {{"2g.20gb", 3}}; });
  ASSERT_TRUE(world.run_until([&] { return world.count_writes("n1: apply") == 2; }));
  EXPECT_EQ(world.count_writes("is verified"), 0);
  EXPECT_TRUE(world.node("n1").cordoned());
  ASSERT_TRUE(world.run_until_ready("small"));
  EXPECT_THAT(world.broken, IsEmpty());
}

TEST(Spec, DeletedInMidDrainTheNodeIsPutBackAndTheLayoutGoes) {
  RolloutWorld world = in_mid_drain();
  world.delete_layout("small");
  world.run_for(minutes(1));
  EXPECT_EQ(world.layout("small"), nullptr);
  EXPECT_FALSE(world.node("n1").cordoned());
  EXPECT_EQ(world.label("n1", names::kMigConfig), names::kAllDisabled);
  EXPECT_EQ(world.ledger(), "");
  EXPECT_THAT(world.broken, IsEmpty());
}

TEST(Spec, DeletedInMidApplyTheNodeFinishesBeforeTheLayoutGoes) {
  RolloutWorld world = in_mid_apply();
  world.delete_layout("small");
  ASSERT_TRUE(world.run_until([&] { return world.layout("small") == nullptr; }, minutes(5)));
  EXPECT_EQ(world.phase("n1"), "Idle");
  EXPECT_FALSE(world.node("n1").cordoned());
  EXPECT_EQ(world.offered("n1", "nvidia.com/mig-1g.10gb"), 28);
  EXPECT_EQ(world.offered("n2", "nvidia.com/gpu"), 4);
  EXPECT_THAT(world.broken, IsEmpty());
}

TEST(Spec, DeletedWithDisableMIGEveryNodeLosesItsPartitionsFirst) {
  RolloutWorld world;
  world.add_nodes(2);
  world.add(layout("small").with(
      [](MIGLayoutSpec& s) { s.deletion_policy = DeletionPolicy::kDisableMIG; }));
  ASSERT_TRUE(world.run_until_ready("small"));
  world.delete_layout("small");
  ASSERT_TRUE(world.run_until([&] { return world.layout("small") == nullptr; }, hours(1)));
  for (const char* name : {"n1", "n2"}) {
    EXPECT_EQ(world.label(name, names::kMigConfig), names::kAllDisabled);
    EXPECT_EQ(world.offered(name, "nvidia.com/gpu"), 4);
    EXPECT_FALSE(world.node(name).cordoned());
  }
  EXPECT_THAT(world.broken, IsEmpty());
}

TEST(Spec, OfTwoLayoutsOnOneNodeTheHigherPriorityWinsAndTheOtherSaysSo) {
  RolloutWorld world;
  world.add_nodes(2);
  world.add(layout("low"));
  world.add(layout("high").priority(1).profiles({{"2g.20gb", 3}}).with([](MIGLayoutSpec& s) {
    s.node_selector = LabelSelector{{{"kubernetes.io/hostname", "n1"}}, {}};
  }));
  ASSERT_TRUE(world.run_until_ready("low"));
  ASSERT_TRUE(world.run_until_ready("high"));
  EXPECT_EQ(world.offered("n1", "nvidia.com/mig-2g.20gb"), 12);
  EXPECT_EQ(world.offered("n2", "nvidia.com/mig-1g.10gb"), 28);
  EXPECT_EQ(world.counts("low"), "selected 1 updated 1 inProgress 0 blocked 0 failed 0 pending 0");
  EXPECT_THAT(world.condition("low", "Ready"), HasSubstr("n1 (high)"));
  EXPECT_THAT(world.broken, IsEmpty());
}

TEST(Spec, TheOlderOfTwoEqualLayoutsWins) {
  RolloutWorld world;
  world.add_nodes(1);
  world.add(layout("a").created(world.now).profiles({{"2g.20gb", 3}}));
  world.add(layout("b").created(world.now - hours(1)));
  ASSERT_TRUE(world.run_until_ready("b"));
  world.run_for(minutes(5));
  EXPECT_EQ(world.offered("n1", "nvidia.com/mig-1g.10gb"), 28);
  EXPECT_THAT(world.condition("a", "Ready"), HasSubstr("NoNodesSelected"));
}

TEST(Spec, TheInitialBatchIsVerifiedBeforeTheRestStart) {
  RolloutWorld world;
  world.add_nodes(5);
  world.add(layout("small").with([](MIGLayoutSpec& s) { s.rollout.max_unavailable = {3, false}; }));
  ASSERT_TRUE(world.run_until([&] { return world.phase("n1") == "Applying"; }));
  EXPECT_EQ(world.ledger(), "n1");
  EXPECT_THAT(world.detail("small", "n2"), HasSubstr("InitialBatch"));
  ASSERT_TRUE(world.run_until([&] { return world.phase("n3") == "Applying"; }));
  EXPECT_EQ(world.phase("n2"), "Applying");
  EXPECT_EQ(world.phase("n4"), "Applying");
  EXPECT_THAT(world.detail("small", "n5"), HasSubstr("3 of 5 selected nodes may be out"));
  ASSERT_TRUE(world.run_until_ready("small"));
  EXPECT_THAT(world.broken, IsEmpty());
}

TEST(Spec, NodesThatAreOutForOtherReasonsCountAgainstTheBudget) {
  RolloutWorld world;
  world.add_nodes(3);
  world.change_node("n3", [](Node& n) { n.ready = false; });
  world.add(layout("small"));
  world.run_for(minutes(10));
  EXPECT_EQ(world.counts("small"),
            "selected 3 updated 0 inProgress 0 blocked 0 failed 0 pending 3");
  EXPECT_THAT(world.detail("small", "n1"), HasSubstr("n3 (not Ready)"));
  world.change_node("n3", [](Node& n) { n.ready = true; });
  EXPECT_TRUE(world.run_until_ready("small"));
  EXPECT_THAT(world.broken, IsEmpty());
}

TEST(Spec, ANodeThatLeavesTheSelectionInMidApplyCountsUntilItIsBack) {
  RolloutWorld world = in_mid_apply();
  world.change_node("n2", [](Node& n) { n.meta.labels.set("tier", "small"); });
  world.change_layout("small", [](MIGLayoutSpec& s) {
    s.node_selector = LabelSelector{{{"tier", "small"}}, {}};
  });
  ASSERT_TRUE(world.run_until([&] { return world.node("n2").cordoned(); }));
  EXPECT_EQ(world.phase("n1"), "Idle");
  EXPECT_FALSE(world.node("n1").cordoned());
  ASSERT_TRUE(world.run_until_ready("small"));
  EXPECT_THAT(world.broken, IsEmpty());
}

TEST(Spec, MinAvailableIsKeptAndRoomThatAppearsLetsItProceed) {
  RolloutWorld world;
  world.add_nodes(2);
  world.add(layout("small").with([](MIGLayoutSpec& s) {
    s.capacity_guard.min_available = {{"nvidia.com/gpu", 8}};
  }));
  world.run_for(minutes(5));
  EXPECT_THAT(world.detail("small", "n1"),
              HasSubstr("Waiting CapacityGuard: nvidia.com/gpu would fall to 4"));
  EXPECT_THAT(world.condition("small", "Stalled"), HasSubstr("CapacityGuard"));
  world.add(node("more").a100_80(4));
  world.add(node("yet-more").a100_80(4));
  EXPECT_TRUE(world.run_until_ready("small"));
  EXPECT_THAT(world.broken, IsEmpty());
}

TEST(Spec, TheLastProviderOfABoundPodsResourceIsKeptAndAPendingPodBlocksNothing) {
  RolloutWorld world;
  world.add_nodes(1);
  world.add(pod("web").gpu(1).on("n1")).add(layout("small"));
  world.run_for(minutes(5));
  EXPECT_THAT(world.detail("small", "n1"), HasSubstr("Waiting LastProvider: no other node"));
  world.remove_pod("web");
  world.add(pod("pending").gpu(64).phase(PodPhase::kPending));
  EXPECT_TRUE(world.run_until_ready("small"));
  EXPECT_THAT(world.broken, IsEmpty());
}

struct Refused {
  const char* sentence;
  std::function<void(RolloutWorld&)> change;
  const char* says;
};

TEST(Spec, WhatCannotBeDoneIsSaidAndNoNodeIsTouched) {
  const Refused cases[] = {
      {"a GPU product nobody knows",
       [](RolloutWorld& w) {
         w.change_node("n1",
                       [](Node& n) { n.meta.labels.set(names::kGpuProduct, "NVIDIA-ABACUS"); });
       },
       "UnknownProduct: n1: "},
      {"a profile that does not fit",
       [](RolloutWorld& w) {
         w.change_layout("small", [](MIGLayoutSpec& s) {
           s.devices[0].profiles = {{"3g.40gb", 3}};
         });
       },
       "InvalidLayout: n1: "},
      {"a GPU index the node does not have",
       [](RolloutWorld& w) {
         w.change_layout("small", [](MIGLayoutSpec& s) {
           s.devices.push_back({std::vector<std::int32_t>{7}, {{"1g.10gb", 7}}});
         });
       },
       "InvalidLayout: n1: "},
      {"a heterogeneous layout under strategy single",
       [](RolloutWorld& w) {
         w.change_node("n1", [](Node& n) { n.meta.labels.set(names::kMigStrategy, "single"); });
         w.change_layout("small", [](MIGLayoutSpec& s) {
           s.devices[0].profiles = {{"3g.40gb", 1}, {"1g.10gb", 1}};
         });
       },
       "InvalidLayout: n1: "},
      {"a selector on a label that the layout itself changes",
       [](RolloutWorld& w) {
         w.change_layout("small", [](MIGLayoutSpec& s) {
           s.node_selector = LabelSelector{{{names::kGpuCount, "4"}}, {}};
         });
       },
       "InvalidSpec: "},
      {"nobody reads berth's file",
       [](RolloutWorld& w) {
         DaemonSet agent = *w.cluster.daemon_sets().find("gpu-operator", "nvidia-mig-manager");
         agent.config_map_volumes = {"default-mig-parted-config"};
         w.cluster.upsert(agent, w.now);
       },
       "AgentNotConfigured: n1: "},
  };
  for (const Refused& c : cases) {
    SCOPED_TRACE(c.sentence);
    RolloutWorld world;
    world.add_nodes(1);
    world.add(layout("small"));
    c.change(world);
    world.run_for(hours(1));
    EXPECT_THAT(world.condition("small", "Stalled"), HasSubstr(c.says));
    EXPECT_EQ(world.count_writes("Node/"), 0);
    EXPECT_THAT(world.broken, IsEmpty());
  }
}

TEST(Spec, NothingSelectedIsSaid) {
  RolloutWorld world;
  world.add(node("n1").a100_80(4));
  world.add(layout("small"));
  world.run_for(minutes(1));
  EXPECT_THAT(world.condition("small", "Ready"), HasSubstr("NoNodesSelected: no node matches"));
}

TEST(Spec, AnEmptySelectorTakesEveryNodeThatHasGpus) {
  RolloutWorld world;
  world.add(node("n1").a100_80(4)).add(node("control-plane"));
  world.add(layout("small").with([](MIGLayoutSpec& s) { s.node_selector = LabelSelector{}; }));
  EXPECT_TRUE(world.run_until_ready("small"));
  EXPECT_EQ(world.counts("small"),
            "selected 1 updated 1 inProgress 0 blocked 0 failed 0 pending 0");
}

}  // namespace
}  // namespace berth::test
