// SPDX-License-Identifier: Apache-2.0
// People, NVIDIA's operator, autoscalers, and other leaders of berth's own.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apis/base/names.h"
#include "tests/rollout/rollout.h"

namespace berth::test {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::Contains;
using ::testing::HasSubstr;

std::string nodes(int count) {
  return fmt::format("nodes: [{{count: {}, labels: {{tier: mig}}}}]\n", count);
}

struct OneNode : ::testing::Test {
  OneNode() : world(nodes(1)) {}
  void begin_and_run_to(const std::string& phase) {
    world.apply_layout("small");
    ASSERT_TRUE(world.run_until_phase("n1", phase));
  }
  Rollout world;
};

TEST(Others, ANodeThatAPersonCordonedIsRepartitionedAndStaysCordoned) {
  Rollout world(
      "nodes: [{count: 2, labels: {tier: mig}}, "
      "{name: theirs, labels: {tier: mig}, cordoned: true}]");
  world.apply_layout("small", "rollout: {maxUnavailable: 2}");
  EXPECT_TRUE(world.run_until_ready("small")) << world.details("small");
  EXPECT_TRUE(world.cordoned("theirs"));
  EXPECT_EQ(world.offered("theirs", "mig-1g.10gb"), 28);
}

TEST(Others, TakingANodeThatIsOutAlreadyCostsNoSlot) {
  Rollout world(
      "nodes: [{count: 1, labels: {tier: mig}}, "
      "{name: theirs, labels: {tier: mig}, cordoned: true}]");
  world.apply_layout("small");
  ASSERT_TRUE(world.run_until([&] { return world.offered("theirs", "mig-1g.10gb") == 28; }));
  world.run_for(minutes(2));
  EXPECT_EQ(world.offered("n1", "gpu"), 4) << "the budget is still taken";
  EXPECT_THAT(world.condition("small", "Reconciling"),
              HasSubstr("theirs (cordoned, not by berth)"));
}

TEST_F(OneNode, AHoldKeepsItOutAndItsRemovalLetsItGo) {
  world.act("hold: n1");
  world.apply_layout("small");
  world.run_for(minutes(1));
  EXPECT_EQ(world.phase("n1"), "");
  EXPECT_THAT(world.detail("small", "n1"), HasSubstr("Waiting Held"));
  world.act("unhold: n1");
  EXPECT_TRUE(world.run_until_ready("small"));
}

struct HeldMidway : OneNode, ::testing::WithParamInterface<const char*> {};
INSTANTIATE_TEST_SUITE_P(, HeldMidway, ::testing::Values("Cordoned", "Applying"),
                         [](const auto& row) { return std::string(row.param); });

TEST_P(HeldMidway, TheNodeStaysAsItIs) {
  begin_and_run_to(GetParam());
  world.act("hold: n1");
  world.run_for(minutes(5));
  EXPECT_EQ(world.phase("n1"), GetParam());
  EXPECT_TRUE(world.cordoned("n1"));
  EXPECT_THAT(world.detail("small", "n1"), HasSubstr("Held"));
  world.act("unhold: n1");
  EXPECT_TRUE(world.run_until_ready("small"));
  EXPECT_FALSE(world.cordoned("n1"));
}

TEST_F(OneNode, AnUncordonByHandInMidDrainHoldsIt) {
  begin_and_run_to("Cordoned");
  world.act("uncordon: n1");
  world.run_for(minutes(1));
  EXPECT_EQ(world.phase("n1"), "Idle");
  EXPECT_FALSE(world.cordoned("n1"));
  EXPECT_THAT(world.detail("small", "n1"), HasSubstr("Waiting Held"));
  EXPECT_EQ(world.ledger(), "");
  world.act("unhold: n1");
  EXPECT_TRUE(world.run_until_ready("small"));
}

struct Busy {
  const char* name;
  const char* sentence;
  std::string mark, unmark;  // acts
  const char* reason;
};
std::string relabel(const char* key, const char* value) {
  return fmt::format("label: n1, set: {{{}: {}}}", key, value);
}
std::vector<Busy> busy_nodes() {
  return {
      {"Upgrade", "a driver upgrade", relabel(names::kDriverUpgradeState, "drain-required"),
       relabel(names::kDriverUpgradeState, "upgrade-done"), "UpgradeInProgress"},
      {"Autoscaler", "an autoscaler's deletion mark",
       "edit: node/n1, patch: {spec: {taints: [{key: ToBeDeletedByClusterAutoscaler, value: \"1\", "
       "effect: NoSchedule}]}}",
       "edit: node/n1, patch: {spec: {taints: null}}", "AutoscalerDeleting"},
      {"NoMigManager", "no mig-manager", relabel(names::kDeployMigManager, "\"false\""),
       relabel(names::kDeployMigManager, "\"true\""), "MigManagerMissing"},
      {"VirtualMachines", "virtual machines", relabel(names::kWorkloadConfig, "vm-passthrough"),
       relabel(names::kWorkloadConfig, "container"), "VirtualMachineNode"},
      {"NotReady", "not Ready", "stop-kubelet: n1", "start-kubelet: n1", "NodeNotReady"},
  };
}
struct BusyNode : OneNode, ::testing::WithParamInterface<Busy> {};
INSTANTIATE_TEST_SUITE_P(, BusyNode, ::testing::ValuesIn(busy_nodes()),
                         [](const auto& row) { return row.param.name; });

TEST_P(BusyNode, IsLeftAlone) {
  SCOPED_TRACE(GetParam().sentence);
  world.act(GetParam().mark);
  world.run_for(minutes(2));
  world.apply_layout("small");
  world.run_for(minutes(1));
  EXPECT_EQ(world.phase("n1"), "");
  EXPECT_THAT(world.detail("small", "n1"), HasSubstr(std::string("Waiting ") + GetParam().reason));
  world.act(GetParam().unmark);
  EXPECT_TRUE(world.run_until_ready("small"));
}

TEST_F(OneNode, AForeignValueWhileItIsInUseIsAReportedConflict) {
  world.apply_layout("small");
  ASSERT_TRUE(world.run_until_ready("small"));
  world.act(
      "apply: {apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: web, namespace: "
      "default}, spec: {replicas: 1, selector: {matchLabels: {app: web}}, template: "
      "{metadata: {labels: {app: web}}, spec: {containers: [{name: main, image: i, resources: "
      "{requests: {nvidia.com/mig-1g.10gb: \"1\"}, limits: {nvidia.com/mig-1g.10gb: "
      "\"1\"}}}]}}}}");
  ASSERT_TRUE(world.run_until([&] { return !world.pods_on("n1").empty(); }));
  world.act("agent-fault: n1, fault: fail, times: -1");
  world.label("n1", names::kMigConfig, "all-3g.40gb");
  world.run_for(minutes(5));
  EXPECT_EQ(world.label_of("n1", names::kMigConfig), "all-3g.40gb");
  EXPECT_THAT(world.condition("small", "Stalled"), HasSubstr("Contested: n1: somebody set"));
  EXPECT_EQ(world.count_writes("evict "), 0);
}

// The agents stand still, so that nothing but the label is wrong.
TEST_F(OneNode, AForeignValueThatIsTheSingleDifferenceIsAssertedAgainThreeTimes) {
  world.apply_layout("small", "rollout: {progressDeadline: 1m}");
  ASSERT_TRUE(world.run_until_ready("small"));
  for (int i = 1; i <= 4; ++i) {
    SCOPED_TRACE(i);
    world.act("stop-kubelet: n1");
    world.label("n1", names::kMigConfig, "theirs");
    world.run_for(seconds(15));
    world.act("start-kubelet: n1");
    world.run_for(minutes(5));
    EXPECT_EQ(world.is_ready("small"), i <= 3) << world.detail("small", "n1");
  }
  EXPECT_EQ(world.label_of("n1", names::kMigConfig), "theirs");
  EXPECT_THAT(world.condition("small", "Stalled"), HasSubstr("Contested"));
}

TEST(Others, ANodeDeletedInMidDrainIsForgottenAndItsNamesakeIsANewNode) {
  Rollout world(nodes(2));
  world.apply_layout("small", "rollout: {order: Name}");
  ASSERT_TRUE(world.run_until_phase("n1", "Cordoned"));
  world.act("recreate-node: n1");
  EXPECT_TRUE(world.run_until_ready("small")) << world.details("small");
  EXPECT_TRUE(world.run_until([&] { return world.ledger().empty(); }, minutes(1)));
  world.run_for(seconds(1));  // berth says so once the reply is in
  EXPECT_EQ(world.count_writes("slots: n1 (back)"), 1);
}

TEST(Others, ANodeCreatedAgainFromACopyOfItReturnsFromBerthsCordon) {
  for (const char* phase : {"Cordoned", "Applying"}) {
    SCOPED_TRACE(phase);
    Rollout world(nodes(2));
    world.apply_layout("small", "rollout: {order: Name}");
    ASSERT_TRUE(world.run_until_phase("n1", phase));
    world.act("recreate-node: n1, as: saved");
    EXPECT_TRUE(world.run_until_ready("small")) << world.details("small");
    EXPECT_FALSE(world.cordoned("n1"));
    EXPECT_TRUE(world.run_until([&] { return world.ledger().empty(); }, minutes(1)));
  }
}

TEST(Others, AClaimOfADeadLeaderIsGivenBackFirst) {
  Rollout world(nodes(2));
  world.apply_layout("small");
  // The ledger has the claim, and berth does not know yet.
  ASSERT_TRUE(world.run_until([&] { return world.ledger() == "n1"; }));
  ASSERT_FALSE(world.cordoned("n1"));
  world.act("crash: leader");
  EXPECT_TRUE(world.run_until_ready("small"));
  EXPECT_EQ(world.count_writes("give the slot back: it was claimed by a former leader"), 1)
      << ::testing::PrintToString(world.writes());
}

TEST_F(OneNode, AnAnnotationThatAPersonBrokeIsReportedAndRepairedWhereASlotIsHeld) {
  world.annotate("n1", names::kRolloutAnnotation, "\"{junk\"");
  world.apply_layout("small");
  world.run_for(minutes(1));
  EXPECT_THAT(world.detail("small", "n1"), HasSubstr("Waiting Contested: berth can't read"));
  EXPECT_EQ(world.count_writes("Node/"), 0);
  world.annotate("n1", names::kRolloutAnnotation, "null");
  ASSERT_TRUE(world.run_until_phase("n1", "Cordoned"));
  world.annotate("n1", names::kRolloutAnnotation, "\"[]\"");
  EXPECT_TRUE(world.run_until_ready("small")) << world.details("small");
  EXPECT_TRUE(world.run_until([&] { return world.ledger().empty(); }, minutes(1)));
}

TEST_F(OneNode, ALedgerThatWasDeletedIsRestoredFromTheNodes) {
  begin_and_run_to("Applying");
  world.act("delete: configmap/berth-system/" + std::string(names::kSlotsConfigMap));
  world.run_for(seconds(5));
  EXPECT_EQ(world.ledger(), "n1");
  EXPECT_TRUE(world.run_until_ready("small"));
}

TEST_F(OneNode, APodBoundAfterTheLabelWriteIsReported) {
  begin_and_run_to("Applying");
  ASSERT_TRUE(world.run_until([&] { return world.offered("n1", "mig-1g.10gb") == 28; }));
  world.act(
      "apply: {apiVersion: v1, kind: Pod, metadata: {name: late, namespace: default}, spec: "
      "{nodeName: n1, containers: [{name: main, image: i, resources: {limits: "
      "{nvidia.com/mig-1g.10gb: \"1\"}}}]}}");
  world.run_for(seconds(10));
  EXPECT_THAT(world.detail("small", "n1"), HasSubstr("bound late: "));
  ASSERT_TRUE(world.run_until_ready("small"));
  world.run_for(seconds(5));
  EXPECT_THAT(world.events(), Contains("Node/n1 LateBinding"));
}

TEST_F(OneNode, AnEveryDayRebootThatLosesTheInstancesIsReportedNotDrained) {
  world.apply_layout("small");
  ASSERT_TRUE(world.run_until_ready("small"));
  world.run_for(minutes(1));  // Ready comes before the slot is free again
  world.forget_writes();
  world.act("agent-fault: n1, fault: lie, times: -1");  // what mig-manager finds it leaves broken
  world.act("reboot: n1");
  world.run_for(minutes(5));
  EXPECT_THAT(world.detail("small", "n1"), HasSubstr("Waiting AllocatableMismatch"));
  EXPECT_EQ(world.count_writes("Node/"), 0) << testing::PrintToString(world.writes());
}

}  // namespace
}  // namespace berth::test
