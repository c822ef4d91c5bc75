// SPDX-License-Identifier: Apache-2.0
// The layout changes while its rollout is under way: paused, edited, deleted, overlapped; and the
// budget, the guard and the checks before the first touch.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apis/base/names.h"
#include "tests/rollout/rollout.h"

namespace berth::test {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::HasSubstr;

std::string nodes_of_tier(int count) {
  return fmt::format("nodes: [{{count: {}, labels: {{tier: mig}}}}]\n", count);
}
constexpr char kTwos[] = "devices: [{profiles: {2g.20gb: 3}}]";
constexpr char kOnes[] = "devices: [{profiles: {1g.10gb: 7}}]";

// n1 is on its way.
struct Midway : ::testing::Test {
  explicit Midway(const char* phase = "Cordoned") : world(nodes_of_tier(2)) {
    world.apply_layout("small", "rollout: {order: Name}");
    EXPECT_TRUE(world.run_until_phase("n1", phase));
  }
  Rollout world;
};
using MidDrain = Midway;
struct MidApply : Midway {
  MidApply() : Midway("Applying") {}
};

// Its counts may wait for five seconds; that a node is out may not: whoever uninstalls berth looks.
TEST_F(MidDrain, TheStatusToldThatANodeIsOutBeforeItWasCordoned) {
  EXPECT_THAT(world.counts("small"), HasSubstr("inProgress 1"));
}

TEST_F(MidDrain, PausedTheNodeIsPutBackAndUnpausedItGoesOn) {
  world.edit_layout("small", "rollout: {paused: true}");
  world.run_for(minutes(2));
  EXPECT_EQ(world.phase("n1"), "Idle");
  EXPECT_FALSE(world.cordoned("n1"));
  EXPECT_EQ(world.ledger(), "");
  EXPECT_EQ(world.details("small"), "n1 Waiting Paused\nn2 Waiting Paused\n");
  EXPECT_THAT(world.condition("small", "Ready"), HasSubstr("Paused"));
  world.edit_layout("small", "rollout: {paused: false}");
  EXPECT_TRUE(world.run_until_ready("small"));
}

TEST_F(MidApply, PausedTheNodeFinishesAndNoOtherStarts) {
  world.edit_layout("small", "rollout: {paused: true}");
  world.run_for(minutes(4));
  EXPECT_EQ(world.counts("small"),
            "selected 2 updated 1 inProgress 0 blocked 0 failed 0 pending 1");
  EXPECT_FALSE(world.cordoned("n1"));
}

TEST_F(MidDrain, EditedTheNodeIsReaimedWithoutBeingPutBack) {
  world.edit_layout("small", kTwos);
  ASSERT_TRUE(world.run_until_ready("small"));
  EXPECT_EQ(world.offered("n1", "mig-2g.20gb"), 12);
  EXPECT_EQ(world.count_writes("restore"), 0);
  EXPECT_EQ(world.count_writes("n1: apply"), 1);
}

TEST(Spec, EditedBackInMidDrainTheNodeIsPutBack) {
  Rollout world(nodes_of_tier(1));
  world.apply_layout("small");
  ASSERT_TRUE(world.run_until_ready("small"));
  world.edit_layout("small", kTwos);
  ASSERT_TRUE(world.run_until_phase("n1", "Cordoned"));
  world.edit_layout("small", kOnes);
  ASSERT_TRUE(world.run_until_ready("small"));
  EXPECT_TRUE(world.run_until_phase("n1", "Idle"));
  EXPECT_EQ(world.count_writes("restore: the node has what the layout asks for"), 1);
  EXPECT_EQ(world.count_writes("n1: apply"), 1);
}

TEST_F(MidApply, EditedTheNodeFinishesAndGoesOnWithoutBeingUncordoned) {
  world.edit_layout("small", kTwos);
  ASSERT_TRUE(world.run_until([&] { return world.count_writes("n1: apply") == 2; }));
  EXPECT_EQ(world.count_writes("is verified"), 0);
  EXPECT_TRUE(world.cordoned("n1"));
  EXPECT_TRUE(world.run_until_ready("small"));
}

TEST_F(MidDrain, DeletedTheNodeIsPutBackAndTheLayoutGoes) {
  world.act("delete: miglayout/small");
  world.run_for(minutes(1));
  EXPECT_FALSE(world.exists("miglayouts", "small"));
  EXPECT_FALSE(world.cordoned("n1"));
  EXPECT_EQ(world.label_of("n1", names::kMigConfig), names::kAllDisabled);
  EXPECT_EQ(world.ledger(), "");
}

TEST_F(MidApply, DeletedTheNodeFinishesBeforeTheLayoutGoes) {
  world.act("delete: miglayout/small");
  ASSERT_TRUE(world.run_until([&] { return !world.exists("miglayouts", "small"); }, minutes(5)));
  EXPECT_EQ(world.phase("n1"), "Idle");
  EXPECT_FALSE(world.cordoned("n1"));
  EXPECT_EQ(world.offered("n1", "mig-1g.10gb"), 28);
  EXPECT_EQ(world.offered("n2", "gpu"), 4);
}

TEST(Spec, DeletedWithDisableMIGEveryNodeLosesItsPartitionsFirst) {
  Rollout world(nodes_of_tier(2));
  world.apply_layout("small", "deletionPolicy: DisableMIG");
  ASSERT_TRUE(world.run_until_ready("small"));
  world.act("delete: miglayout/small");
  ASSERT_TRUE(world.run_until([&] { return !world.exists("miglayouts", "small"); }));
  for (const char* name : {"n1", "n2"}) {
    EXPECT_EQ(world.label_of(name, names::kMigConfig), names::kAllDisabled);
    EXPECT_EQ(world.offered(name, "gpu"), 4);
    EXPECT_FALSE(world.cordoned(name));
  }
}

TEST(Spec, OfTwoLayoutsOnOneNodeTheHigherPriorityWinsAndTheOtherSaysSo) {
  Rollout world(
      "nodes: [{count: 1, labels: {tier: mig, high: one}}, {name: low, labels: {tier: mig}}]");
  world.apply_layout("low");
  world.apply_layout("high", "priority: 1", "2g.20gb: 3");
  world.edit_layout("high", "nodeSelector: {matchLabels: {high: one}}");
  ASSERT_TRUE(world.run_until([&] { return world.is_ready("low") && world.is_ready("high"); }));
  EXPECT_EQ(world.offered("n1", "mig-2g.20gb"), 12);
  EXPECT_EQ(world.offered("low", "mig-1g.10gb"), 28);
  EXPECT_EQ(world.counts("low"), "selected 1 updated 1 inProgress 0 blocked 0 failed 0 pending 0");
  EXPECT_THAT(world.condition("low", "Ready"), HasSubstr("n1 (high: priority 1 over 0)"));
}

TEST(Spec, TheOlderOfTwoEqualLayoutsWins) {
  Rollout world(nodes_of_tier(1));
  world.apply_layout("b");
  world.run_for(seconds(2));
  world.apply_layout("a", "", "2g.20gb: 3");
  ASSERT_TRUE(world.run_until_ready("b"));
  world.run_for(minutes(2));
  EXPECT_EQ(world.offered("n1", "mig-1g.10gb"), 28);
  EXPECT_THAT(world.condition("a", "Ready"), HasSubstr("NoNodesSelected"));
}

TEST(Spec, TheInitialBatchIsVerifiedBeforeTheRestStart) {
  Rollout world(nodes_of_tier(5));
  world.apply_layout("small", "rollout: {maxUnavailable: 3, order: Name}");
  ASSERT_TRUE(world.run_until_phase("n1", "Applying"));
  world.run_for(seconds(5));
  EXPECT_EQ(world.ledger(), "n1");
  EXPECT_THAT(world.detail("small", "n2"), HasSubstr("InitialBatch"));
  for (const char* name : {"n2", "n3", "n4"}) ASSERT_TRUE(world.run_until_phase(name, "Applying"));
  for (const char* name : {"n2", "n3", "n4"}) EXPECT_EQ(world.phase(name), "Applying");
  world.run_for(seconds(5));
  EXPECT_THAT(world.detail("small", "n5"), HasSubstr("3 of 5 selected nodes may be unavailable"));
  EXPECT_TRUE(world.run_until_ready("small"));
}

TEST(Spec, NodesThatAreOutForOtherReasonsCountAgainstTheBudget) {
  Rollout world(nodes_of_tier(3));
  world.act("stop-kubelet: n3");
  world.run_for(minutes(2));
  world.apply_layout("small");
  world.run_for(minutes(2));
  EXPECT_EQ(world.counts("small"),
            "selected 3 updated 0 inProgress 0 blocked 0 failed 0 pending 3");
  EXPECT_THAT(world.detail("small", "n1"), HasSubstr("n3 (not Ready)"));
  world.act("start-kubelet: n3");
  EXPECT_TRUE(world.run_until_ready("small"));
}

TEST_F(MidApply, ANodeThatLeavesTheSelectionCountsUntilItIsBack) {
  world.label("n2", "tier", "small");
  world.edit_layout("small", "nodeSelector: {matchLabels: {tier: small}}");
  world.run_for(seconds(6));
  EXPECT_EQ(world.phase("n1"), "Applying");
  EXPECT_THAT(world.counts("small"), HasSubstr("selected 1 updated 0 inProgress 1 "));
  ASSERT_TRUE(world.run_until([&] { return world.cordoned("n2"); }));
  EXPECT_EQ(world.phase("n1"), "Idle");
  EXPECT_FALSE(world.cordoned("n1"));
  EXPECT_TRUE(world.run_until_ready("small"));
}

TEST(Spec, MinAvailableIsKeptAndRoomThatAppearsLetsItProceed) {
  Rollout world(nodes_of_tier(2));
  world.apply_layout("small", "capacityGuard: {minAvailable: {nvidia.com/gpu: 8}}");
  world.run_for(minutes(1));
  EXPECT_THAT(world.detail("small", "n1"),
              HasSubstr("Waiting CapacityGuard: nvidia.com/gpu would fall to 4"));
  EXPECT_THAT(world.condition("small", "Reconciling"), HasSubstr("CapacityGuard: n1: "));
  world.act("add-node: more, gpus: 4");
  world.act("add-node: yet-more, gpus: 4");
  EXPECT_TRUE(world.run_until_ready("small"));
}

TEST(Spec, TheLastProviderOfABoundPodsResourceIsKeptAndAPendingPodBlocksNothing) {
  Rollout world(nodes_of_tier(1) +
                "workloads: [{name: web, kind: Pod}, {name: big, kind: Pod, count: 64}]");
  world.apply_layout("small", "drain: {force: true}");
  world.run_for(minutes(1));
  EXPECT_THAT(world.detail("small", "n1"), HasSubstr("Waiting LastProvider: no other node"));
  world.act("delete: pod/team-a/web-0");
  EXPECT_TRUE(world.run_until_ready("small"));
  EXPECT_TRUE(world.exists("pods", "big-0", "team-a"));
}

struct Refused {
  const char* name;
  const char* sentence;
  const char* cluster;
  const char* spec;  // of the edit that breaks the layout
  const char* says;
};
const Refused kRefused[] = {
    {"Product", "a GPU product nobody knows",
     "{labels: {tier: mig, nvidia.com/gpu.product: NVIDIA-ABACUS}}", "", "UnknownProduct: n1: "},
    {"Profile", "a profile that does not fit", "{labels: {tier: mig}}",
     "devices: [{profiles: {3g.40gb: 3}}]", "InvalidLayout: n1: "},
    {"Index", "a GPU index the node does not have", "{labels: {tier: mig}}",
     "devices: [{gpus: [7], profiles: {1g.10gb: 7}}]", "InvalidLayout: n1: "},
    {"Single", "a heterogeneous layout under strategy single",
     "{labels: {tier: mig, nvidia.com/mig.strategy: single}}",
     "devices: [{profiles: {3g.40gb: 1, 1g.10gb: 1}}]", "InvalidLayout: n1: "},
    {"Selector", "a selector on a label that the layout itself changes", "{labels: {tier: mig}}",
     "nodeSelector: {matchLabels: {nvidia.com/gpu.count: \"4\"}}", "InvalidSpec: "},
    {"File", "nobody reads berth's file", "{labels: {tier: mig}}", "", "AgentNotConfigured: n1: "},
};

struct RefusedLayout : ::testing::TestWithParam<Refused> {};
INSTANTIATE_TEST_SUITE_P(, RefusedLayout, ::testing::ValuesIn(kRefused),
                         [](const auto& row) { return row.param.name; });

TEST_P(RefusedLayout, IsSaidAndNoNodeIsTouched) {
  const Refused& c = GetParam();
  SCOPED_TRACE(c.sentence);
  std::string cluster = fmt::format("nodes: [{}]\n", c.cluster);
  if (std::string_view(c.name) == "File")
    cluster += "agents: {configMap: default-mig-parted-config}\n";
  Rollout world(cluster);
  world.apply_layout("small", "rollout: {paused: true}");
  world.edit_layout(
      "small", std::string("rollout: {paused: false}") + (c.spec[0] == 0 ? "" : ", ") + c.spec);
  world.run_for(minutes(2));
  EXPECT_THAT(world.condition("small", "Stalled"), HasSubstr(c.says));
  EXPECT_EQ(world.count_writes("Node/"), 0);
}

TEST(Spec, NothingSelectedIsSaid) {
  Rollout world("nodes: [{count: 1}]");
  world.apply_layout("small");
  world.run_for(seconds(30));
  EXPECT_THAT(world.condition("small", "Ready"),
              HasSubstr("NoNodesSelected: no node has label tier"));
}

TEST(Spec, AnEmptySelectorTakesEveryNodeThatHasGpus) {
  Rollout world(
      "nodes: [{count: 1}]\nobjects: [{apiVersion: v1, kind: Node, metadata: {name: cp}}]");
  world.apply_layout("small", "rollout: {paused: true}");
  world.act(
      "edit: miglayout/small, patch: {spec: {nodeSelector: {matchLabels: null}, rollout: "
      "{paused: false}}}");
  EXPECT_TRUE(world.run_until_ready("small"));
  EXPECT_EQ(world.counts("small"),
            "selected 1 updated 1 inProgress 0 blocked 0 failed 0 pending 0");
}

// Ten edits a second: a status may come too late for one of them, but not for all.
TEST(Edits, ALayoutThatIsEditedAllTheTimeStillTellsOfItself) {
  Rollout world(nodes_of_tier(1));
  world.apply_layout("small", "rollout: {paused: true}");
  world.run_for(seconds(10));
  for (int round = 0; round < 4; ++round) {
    const std::int64_t told = world.layout("small").status.observed_generation;
    for (int i = 0; i < 100; ++i) {
      world.edit_layout("small", fmt::format("priority: {}", i % 7));
      world.run_for(std::chrono::milliseconds(97));
    }
    EXPECT_GT(world.layout("small").status.observed_generation, told);
  }
}

}  // namespace
}  // namespace berth::test
