// SPDX-License-Identifier: Apache-2.0
// An agent that fails, wedges, lies, or does not know the config yet; under Halt and under
// Rollback.
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
using Fault = RolloutWorld::Fault;

// The agents have known the config for long: a `failed` is believed.
RolloutWorld three_nodes(FailurePolicy policy) {
  RolloutWorld world;
  world.add_nodes(3);
  world.add(layout("small").with([&](MIGLayoutSpec& spec) {
    spec.rollout.failure_policy = policy;
    spec.rollout.paused = true;
  }));
  world.run_for(minutes(5));
  world.change_layout("small", [](MIGLayoutSpec& spec) { spec.rollout.paused = false; });
  return world;
}

TEST(Failure, AnAgentThatFailsOnceIsTriedAgainByAlias) {
  RolloutWorld world = three_nodes(FailurePolicy::kHalt);
  world.break_agent("n1", Fault::kFails, 1);
  ASSERT_TRUE(world.run_until_ready("small"));
  EXPECT_THAT(world.label("n1", names::kMigConfig), HasSubstr("-r1"));
  EXPECT_THAT(world.broken, IsEmpty());
}

struct Broken {
  const char* sentence;
  Fault fault;
  int label_writes;  // on the node, of the layout's config
  const char* message;
};
const Broken kBroken[] = {
    {"a failing agent is tried three times", Fault::kFails, 3, "mig-manager reports failed"},
    {"one that leaves its labels paused too", Fault::kFailsPaused, 3, "mig-manager reports failed"},
    {"a wedged one is set going once more", Fault::kWedges, 2, "has paused"},
    {"success without devices is no success", Fault::kLies, 3, "mig-manager reports success, but"},
};

TEST(Failure, UnderHaltTheNodeStaysOutAndNoOtherIsTouched) {
  for (const Broken& c : kBroken) {
    SCOPED_TRACE(c.sentence);
    RolloutWorld world = three_nodes(FailurePolicy::kHalt);
    world.break_agent("n1", c.fault);
    world.run_for(hours(4));
    EXPECT_EQ(world.phase("n1"), "Failed");
    EXPECT_TRUE(world.node("n1").cordoned());
    EXPECT_EQ(world.count_writes("n1: apply") + world.count_writes("n1: try again: "),
              c.label_writes);
    EXPECT_THAT(world.condition("small", "Stalled"), HasSubstr("NodeFailed: n1: "));
    EXPECT_THAT(world.condition("small", "Stalled"), HasSubstr(c.message));
    EXPECT_EQ(world.counts("small"),
              "selected 3 updated 0 inProgress 0 blocked 0 failed 1 pending 2");
    EXPECT_THAT(world.detail("small", "n2"), HasSubstr("Waiting LayoutHalted"));
    EXPECT_EQ(world.phase("n2"), "");
    EXPECT_EQ(world.label("n1", "nvidia.com/gpu.deploy.device-plugin"), "true")
        << "paused labels are put right";
    EXPECT_THAT(world.broken, IsEmpty());
  }
}

TEST(Failure, UnderRollbackTheNodeReturnsWithThePreviousConfig) {
  for (const Broken& c : kBroken) {
    SCOPED_TRACE(c.sentence);
    RolloutWorld world = three_nodes(FailurePolicy::kRollback);
    world.break_agent("n1", c.fault, 1000, "berth-");
    world.run_for(hours(4));
    EXPECT_EQ(world.phase("n1"), "Idle");
    EXPECT_FALSE(world.node("n1").cordoned());
    EXPECT_EQ(world.label("n1", names::kMigConfig), names::kAllDisabled);
    EXPECT_EQ(world.offered("n1", "nvidia.com/gpu"), 4);
    EXPECT_THAT(world.condition("small", "Stalled"), HasSubstr("NodeFailed: n1: "));
    EXPECT_EQ(world.counts("small"),
              "selected 3 updated 0 inProgress 0 blocked 0 failed 1 pending 2");
    EXPECT_EQ(world.phase("n2"), "");
    EXPECT_EQ(world.ledger(), "");
    EXPECT_THAT(world.broken, IsEmpty());
  }
}

TEST(Failure, ARollbackThatFailsTooLeavesTheNodeOut) {
  RolloutWorld world = three_nodes(FailurePolicy::kRollback);
  world.break_agent("n1", Fault::kFails);
  world.run_for(hours(4));
  EXPECT_EQ(world.phase("n1"), "Failed");
  EXPECT_TRUE(world.node("n1").cordoned());
  EXPECT_THAT(world.broken, IsEmpty());
}

TEST(Failure, AFailedNodeGoesOnWhenTheLayoutIsEdited) {
  for (FailurePolicy policy : {FailurePolicy::kHalt, FailurePolicy::kRollback}) {
    RolloutWorld world = three_nodes(policy);
    world.break_agent("n1", Fault::kFails, 3);
    ASSERT_TRUE(world.run_until(
        [&] { return world.count_writes("give up") + world.count_writes("roll back") > 0; }));
    world.change_layout("small", [](MIGLayoutSpec& s) {
      s.devices[0].profiles = {{"2g.20gb", 3}};
    });
    ASSERT_TRUE(world.run_until_ready("small")) << world.details("small");
    EXPECT_EQ(world.offered("n1", "nvidia.com/mig-2g.20gb"), 12);
    EXPECT_FALSE(world.node("n1").cordoned());
    EXPECT_THAT(world.broken, IsEmpty());
  }
}

TEST(Failure, AFailedNodeThatAPersonMendsGoesOnByItself) {
  RolloutWorld world = three_nodes(FailurePolicy::kHalt);
  world.break_agent("n1", Fault::kLies, 3);
  ASSERT_TRUE(world.run_until([&] { return world.phase("n1") == "Failed"; }));
  world.change_node("n1", [](Node& n) {
    n.allocatable.set("nvidia.com/gpu", Quantity());
    n.allocatable.set("nvidia.com/mig-1g.10gb", Quantity::whole(28));
  });
  EXPECT_TRUE(world.run_until_ready("small"));
  EXPECT_THAT(world.broken, IsEmpty());
}

TEST(Failure, AFailedNodeIsReleasedCordonedWhenTheLayoutGoes) {
  RolloutWorld world = three_nodes(FailurePolicy::kHalt);
  world.break_agent("n1", Fault::kFails);
  ASSERT_TRUE(world.run_until([&] { return world.phase("n1") == "Failed"; }));
  world.delete_layout("small");
  world.run_for(minutes(5));
  EXPECT_EQ(world.layout("small"), nullptr);
  EXPECT_EQ(world.phase("n1"), "Idle");
  EXPECT_TRUE(world.node("n1").cordoned());
  EXPECT_THAT(world.events, ::testing::Contains("Node/n1 Released"));
  EXPECT_EQ(world.ledger(), "");
}

TEST(Failure, AFailedForAConfigTheAgentCouldNotKnowIsNotBelieved) {
  RolloutWorld world;
  world.add_nodes(3);
  world.add(layout("small"));
  world.break_agent("n1", Fault::kUnknownConfig);
  ASSERT_TRUE(world.run_until_ready("small")) << world.details("small");
  EXPECT_EQ(world.count_writes("may not have known"), 1);
  EXPECT_EQ(world.count_writes("try again after"), 0) << "it did not count";
  EXPECT_THAT(world.broken, IsEmpty());
}

TEST(Failure, MoreFailuresAreBorneIfTheLayoutSaysSo) {
  RolloutWorld world = three_nodes(FailurePolicy::kHalt);
  world.change_layout("small", [](MIGLayoutSpec& s) {
    s.rollout.max_failures = 2;
    s.rollout.max_unavailable = {2, false};
  });
  world.break_agent("n1", Fault::kFails);
  world.run_for(hours(4));
  EXPECT_EQ(world.counts("small"),
            "selected 3 updated 2 inProgress 0 blocked 0 failed 1 pending 0");
  EXPECT_THAT(world.broken, IsEmpty());
}

TEST(Failure, AForeignValueInMidApplyIsNeverFought) {
  RolloutWorld world = three_nodes(FailurePolicy::kRollback);
  ASSERT_TRUE(world.run_until([&] { return world.phase("n1") == "Applying"; }));
  world.change_node("n1", [](Node& n) { n.meta.labels.set(names::kMigConfig, "all-1g.10gb"); });
  world.break_agent("n1", Fault::kFails);
  world.run_for(hours(1));
  EXPECT_EQ(world.label("n1", names::kMigConfig), "all-1g.10gb");
  EXPECT_EQ(world.phase("n1"), "Failed");
  EXPECT_THAT(world.condition("small", "Stalled"), HasSubstr("all-1g.10gb"));
}

}  // namespace
}  // namespace berth::test
