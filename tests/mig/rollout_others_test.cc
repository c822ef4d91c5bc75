// SPDX-License-Identifier: Apache-2.0
// People, NVIDIA's operator, autoscalers, and other leaders of berth's own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controller/mig/reconcile.h"
#include "controller/mig/slots.h"
#include "tests/mig/rollout_world.h"

namespace berth::test {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

RolloutWorld one_node() {
  RolloutWorld world;
  world.add_nodes(1);
  world.add(layout("small"));
  return world;
}

TEST(Others, ANodeThatAPersonCordonedIsRepartitionedAndStaysCordoned) {
  RolloutWorld world;
  world.add_nodes(3);
  world.cordon_by_person("n3");
  world.add(layout("small").with([](MIGLayoutSpec& s) { s.rollout.max_unavailable = {2, false}; }));
  EXPECT_TRUE(world.run_until_ready("small")) << world.details("small");
  EXPECT_TRUE(world.node("n3").cordoned());
  EXPECT_EQ(world.offered("n3", "nvidia.com/mig-1g.10gb"), 28);
  EXPECT_THAT(world.broken, IsEmpty());
}

TEST(Others, TakingANodeThatIsOutAlreadyCostsNoSlot) {
  RolloutWorld world;
  world.add_nodes(2);
  world.cordon_by_person("n2");
  world.add(layout("small"));
  world.run_for(minutes(10));
  EXPECT_EQ(world.offered("n2", "nvidia.com/mig-1g.10gb"), 28);
  EXPECT_EQ(world.offered("n1", "nvidia.com/gpu"), 4) << "the budget is still taken";
  EXPECT_THAT(world.condition("small", "Stalled"), HasSubstr("n2 (cordoned, not by berth)"));
  EXPECT_THAT(world.broken, IsEmpty());
}

TEST(Others, AHoldKeepsANodeOutAndItsRemovalLetsItGo) {
  RolloutWorld world = one_node();
  world.change_node("n1", [](Node& n) { n.meta.annotations.set(names::kHoldAnnotation, "mine"); });
  world.run_for(minutes(5));
  EXPECT_EQ(world.phase("n1"), "");
  EXPECT_THAT(world.detail("small", "n1"), HasSubstr("Waiting Held"));
  world.change_node("n1", [](Node& n) { n.meta.annotations.erase(names::kHoldAnnotation); });
  EXPECT_TRUE(world.run_until_ready("small"));
  EXPECT_THAT(world.broken, IsEmpty());
}

TEST(Others, AHoldInMidWayKeepsTheNodeAsItIs) {
  for (const char* phase : {"Cordoned", "Applying"}) {
    SCOPED_TRACE(phase);
    RolloutWorld world = one_node();
    ASSERT_TRUE(world.run_until([&] { return world.phase("n1") == phase; }));
    world.change_node("n1", [](Node& n) { n.meta.annotations.set(names::kHoldAnnotation, "x"); });
    world.run_for(hours(1));
    EXPECT_EQ(world.phase("n1"), phase);
    EXPECT_TRUE(world.node("n1").cordoned());
    EXPECT_THAT(world.detail("small", "n1"), HasSubstr("Held"));
    world.change_node("n1", [](Node& n) { n.meta.annotations.erase(names::kHoldAnnotation); });
    EXPECT_TRUE(world.run_until_ready("small"));
    EXPECT_FALSE(world.node("n1").cordoned());
    EXPECT_THAT(world.broken, IsEmpty());
  }
}

TEST(Others, AnUncordonByHandInMidDrainHoldsTheNode) {
  RolloutWorld world = one_node();
  ASSERT_TRUE(world.run_until([&] { return world.phase("n1") == "Cordoned"; }));
  world.change_node("n1", [](Node& n) { n.unschedulable.reset(); });
  world.run_for(minutes(5));
  EXPECT_EQ(world.phase("n1"), "Idle");
  EXPECT_FALSE(world.node("n1").cordoned());
  EXPECT_THAT(world.detail("small", "n1"), HasSubstr("Waiting Held"));
  EXPECT_EQ(world.ledger(), "");
  world.change_node("n1", [](Node& n) { n.meta.annotations.erase(names::kHoldAnnotation); });
  EXPECT_TRUE(world.run_until_ready("small"));
  EXPECT_THAT(world.broken, IsEmpty());
}

struct Busy {
  const char* sentence;
  std::function<void(Node&)> mark, unmark;
  const char* reason;
};

TEST(Others, ANodeThatSomebodyElseWorksOnIsLeftAlone) {
  const auto relabel = [](const char* key, const char* value) {
    return [=](Node& n) { n.meta.labels.set(key, value); };
  };
  const Busy cases[] = {
      {"a driver upgrade", relabel(names::kDriverUpgradeState, "drain-required"),
       relabel(names::kDriverUpgradeState, "upgrade-done"), "UpgradeInProgress"},
      {"an autoscaler's deletion mark",
       [](Node& n) {
         n.taints = {{"ToBeDeletedByClusterAutoscaler", "1", "NoSchedule"}};
       },
       [](Node& n) { n.taints.clear(); }, "AutoscalerDeleting"},
      {"no mig-manager", relabel(names::kDeployMigManager, "false"),
       relabel(names::kDeployMigManager, "true"), "MigManagerMissing"},
      {"virtual machines", relabel(names::kWorkloadConfig, "vm-passthrough"),
       relabel(names::kWorkloadConfig, "container"), "VirtualMachineNode"},
      {"not Ready", [](Node& n) { n.ready = false; }, [](Node& n) { n.ready = true; },
       "NodeNotReady"},
  };
  for (const Busy& c : cases) {
    SCOPED_TRACE(c.sentence);
    RolloutWorld world = one_node();
    world.change_node("n1", c.mark);
    world.run_for(minutes(5));
    EXPECT_EQ(world.phase("n1"), "");
    EXPECT_THAT(world.detail("small", "n1"), HasSubstr(std::string("Waiting ") + c.reason));
    world.change_node("n1", c.unmark);
    EXPECT_TRUE(world.run_until_ready("small"));
    EXPECT_THAT(world.broken, IsEmpty());
  }
}

TEST(Others, AForeignValueOnANodeInUseIsAReportedConflict) {
  RolloutWorld world = one_node();
  ASSERT_TRUE(world.run_until_ready("small"));
  world.add(pod("web").requests("nvidia.com/mig-1g.10gb", 1).on("n1"));
  world.break_agent("n1", RolloutWorld::Fault::kFails);
  world.change_node("n1", [](Node& n) { n.meta.labels.set(names::kMigConfig, "all-3g.40gb"); });
  world.run_for(hours(1));
  EXPECT_EQ(world.label("n1", names::kMigConfig), "all-3g.40gb");
  EXPECT_THAT(world.condition("small", "Stalled"), HasSubstr("Contested: n1: somebody set"));
  EXPECT_EQ(world.count_writes("evict "), 0);
}

TEST(Others, AForeignValueThatIsTheSingleDifferenceIsAssertedAgainThreeTimes) {
  RolloutWorld world = one_node();
  ASSERT_TRUE(world.run_until_ready("small"));
  const std::string ours = world.label("n1", names::kMigConfig);
  for (int i = 1; i <= 4; ++i) {
    SCOPED_TRACE(i);
    // The agent found the same geometry under the foreign name and reports success at once.
    world.break_agent("n1", RolloutWorld::Fault::kNone);
    world.change_node("n1", [](Node& n) { n.meta.labels.set(names::kMigConfig, "theirs"); });
    world.remember_label("n1");
    world.run_for(minutes(5));
    EXPECT_EQ(world.is_ready("small"), i <= 3);
  }
  EXPECT_EQ(world.label("n1", names::kMigConfig), "theirs");
  EXPECT_THAT(world.condition("small", "Stalled"), HasSubstr("Contested"));
  EXPECT_THAT(world.broken, IsEmpty());
}

TEST(Others, ANodeDeletedInMidDrainIsForgottenAndItsNamesakeIsANewNode) {
  RolloutWorld world;
  world.add_nodes(2);
  world.add(layout("small"));
  ASSERT_TRUE(world.run_until([&] { return world.phase("n1") == "Cordoned"; }));
  world.remove_node("n1");
  world.add(node("n1").a100_80(4).label("tier", "mig").uid("another"));
  EXPECT_TRUE(world.run_until_ready("small")) << world.details("small");
  EXPECT_EQ(world.count_writes("slots: n1 (another node now)"), 1);
  EXPECT_EQ(world.ledger(), "");
  EXPECT_THAT(world.broken, IsEmpty());
}

TEST(Others, AClaimOfADeadLeaderIsGivenBackBySequenceNumberFirst) {
  // Finalizer, file, claim; then the cordon does not reach the server.
  RolloutWorld dead;
  dead.add_nodes(2);
  dead.add(layout("small"));
  dead.crash_at_write(4, false);
  ASSERT_TRUE(dead.run_until_ready("small"));
  ASSERT_EQ(dead.count_writes("give the slot back: it was claimed by a former leader"), 1)
      << ::testing::PrintToString(dead.writes);
  EXPECT_THAT(dead.broken, IsEmpty());
}

TEST(Others, ADeposedLeaderPlansNothing) {
  RolloutWorld world = one_node();
  ASSERT_TRUE(world.run_until([&] { return world.phase("n1") == "Cordoned"; }));
  const std::int64_t old_epoch = world.epoch;
  world.change_leader();
  world.now += minutes(30);
  ASSERT_FALSE(world.plan("node/n1").empty());
  world.epoch = old_epoch;
  for (const char* key : {"node/n1", "layout/small", "slots", "agent-config"})
    EXPECT_EQ(print(world.plan(key)), "") << key;
}

TEST(Others, AnAnnotationThatAPersonBrokeIsReportedAndRepairedWhereASlotIsHeld) {
  RolloutWorld world = one_node();
  world.change_node("n1",
                    [](Node& n) { n.meta.annotations.set(names::kRolloutAnnotation, "{junk"); });
  world.run_for(minutes(5));
  EXPECT_THAT(world.detail("small", "n1"), HasSubstr("Waiting Contested: berth can't read"));
  EXPECT_EQ(world.count_writes("Node/"), 0);
  world.change_node("n1", [](Node& n) { n.meta.annotations.erase(names::kRolloutAnnotation); });
  ASSERT_TRUE(world.run_until([&] { return world.phase("n1") == "Cordoned"; }));
  world.change_node("n1", [](Node& n) { n.meta.annotations.set(names::kRolloutAnnotation, "[]"); });
  EXPECT_TRUE(world.run_until_ready("small")) << world.details("small");
  EXPECT_EQ(world.ledger(), "");
}

TEST(Others, ALedgerThatWasDeletedIsRestoredFromTheNodes) {
  RolloutWorld world;
  world.add_nodes(3);
  world.add(layout("small"));
  ASSERT_TRUE(world.run_until([&] { return world.phase("n1") == "Applying"; }));
  world.cluster.erase<ConfigMap>("berth-system", names::kSlotsConfigMap);
  world.run_for(seconds(1));
  EXPECT_EQ(world.ledger(), "n1");
  EXPECT_TRUE(world.run_until_ready("small"));
  EXPECT_THAT(world.broken, IsEmpty());
}

TEST(Others, APodBoundAfterTheLabelWriteIsReported) {
  RolloutWorld world = one_node();
  ASSERT_TRUE(world.run_until([&] { return world.phase("n1") == "Applying"; }));
  world.add(pod("late").gpu(1).on("n1"));
  ASSERT_TRUE(world.run_until_ready("small"));
  EXPECT_THAT(world.events, ::testing::Contains("Node/n1 LateBinding"));
}

TEST(Others, AnEveryDayRebootThatLosesTheInstancesIsReportedNotDrained) {
  RolloutWorld world = one_node();
  ASSERT_TRUE(world.run_until_ready("small"));
  world.writes.clear();
  world.change_node("n1", [](Node& n) {
    n.boot_id = "boot-2";
    n.allocatable.set("nvidia.com/mig-1g.10gb", Quantity());
  });
  world.run_for(minutes(5));
  EXPECT_THAT(world.detail("small", "n1"), HasSubstr("Waiting AllocatableMismatch"));
  EXPECT_EQ(world.count_writes("Node/"), 0);
}

TEST(Others, AKeyOfNothingPlansNothing) {
  RolloutWorld world = one_node();
  EXPECT_EQ(world.plan("unknown/key"), Plan{});
  EXPECT_EQ(world.plan("node/nobody"), Plan{});
  EXPECT_EQ(world.plan("layout/nobody"), Plan{});
}

}  // namespace
}  // namespace berth::test
