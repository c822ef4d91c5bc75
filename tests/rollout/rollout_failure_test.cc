// SPDX-License-Identifier: Apache-2.0
// An agent that fails, wedges, lies, or does not know the config yet; under Halt and under
// Rollback.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apis/base/names.h"
#include "tests/rollout/rollout.h"

namespace berth::test {
namespace {

using std::chrono::minutes;
using ::testing::Contains;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// The agents have known the config for long: a `failed` is believed.
class Failure : public ::testing::Test {
 protected:
  explicit Failure(const std::string& policy = "Halt")
      : world("nodes: [{count: 3, labels: {tier: mig}}]") {
    world.apply_layout("small",
                       "rollout: {paused: true, order: Name, progressDeadline: 3m, "
                       "failurePolicy: " +
                           policy + "}");
    world.run_for(minutes(3));
  }
  void begin() { world.edit_layout("small", "rollout: {paused: false}"); }
  void break_agent(const std::string& fault, int times = -1) {
    world.act(fmt::format("agent-fault: n1, fault: {}, times: {}", fault, times));
  }
  Rollout world;
};

TEST_F(Failure, AnAgentThatFailsOnceIsTriedAgainByAlias) {
  break_agent("fail", 1);
  begin();
  ASSERT_TRUE(world.run_until_ready("small"));
  EXPECT_THAT(world.label_of("n1", names::kMigConfig), HasSubstr("-r1"));
}

struct Broken {
  const char* name;
  const char* sentence;
  const char* fault;
  int label_writes;  // on the node, of the layout's config
  const char* message;
};
const Broken kBroken[] = {
    {"Fails", "a failing agent is tried three times", "fail", 3, "mig-manager reports failed"},
    {"FailsPaused", "one that leaves its labels paused too", "fail-labels-paused", 3,
     "mig-manager reports failed"},
    {"Wedges", "a wedged one is set going once more", "wedge", 2, "has paused"},
    {"Lies", "success without devices is no success", "lie", 3, "mig-manager reports success, but"},
};

struct BrokenAgent : Failure, ::testing::WithParamInterface<Broken> {};
INSTANTIATE_TEST_SUITE_P(, BrokenAgent, ::testing::ValuesIn(kBroken),
                         [](const auto& row) { return row.param.name; });

TEST_P(BrokenAgent, UnderHaltTheNodeStaysOutAndNoOtherIsTouched) {
  SCOPED_TRACE(GetParam().sentence);
  break_agent(GetParam().fault);
  begin();
  ASSERT_TRUE(world.run_until_phase("n1", "Failed"));
  world.run_for(minutes(2));
  EXPECT_TRUE(world.cordoned("n1"));
  EXPECT_EQ(world.count_writes("n1: apply") + world.count_writes("n1: try again: "),
            GetParam().label_writes);
  EXPECT_THAT(world.condition("small", "Stalled"), HasSubstr("NodeFailed: n1: "));
  EXPECT_THAT(world.condition("small", "Stalled"), HasSubstr(GetParam().message));
  EXPECT_THAT(
      world.condition("small", "Stalled"),
      EndsWith("; edit the layout, or make mig-manager succeed: berth continues by itself"));
  EXPECT_EQ(world.counts("small"),
            "selected 3 updated 0 inProgress 0 blocked 0 failed 1 pending 2");
  EXPECT_THAT(world.detail("small", "n2"), HasSubstr("Waiting LayoutHalted"));
  EXPECT_EQ(world.phase("n2"), "");
  EXPECT_EQ(world.label_of("n1", "nvidia.com/gpu.deploy.device-plugin"), "true")
      << "paused labels are put right";
}

struct BrokenAgentRolledBack : Failure, ::testing::WithParamInterface<Broken> {
  BrokenAgentRolledBack() : Failure("Rollback") {}
};
INSTANTIATE_TEST_SUITE_P(, BrokenAgentRolledBack, ::testing::ValuesIn(kBroken),
                         [](const auto& row) { return row.param.name; });

TEST_P(BrokenAgentRolledBack, TheNodeReturnsWithThePreviousConfig) {
  SCOPED_TRACE(GetParam().sentence);
  break_agent(GetParam().fault, GetParam().label_writes);
  begin();
  ASSERT_TRUE(world.run_until([&] { return world.count_writes("roll back") > 0; }));
  ASSERT_TRUE(world.run_until_phase("n1", "Idle"));
  world.run_for(minutes(2));
  EXPECT_FALSE(world.cordoned("n1"));
  // -r1 where mig-manager had to be woken once more
  EXPECT_THAT(world.label_of("n1", names::kMigConfig), StartsWith(names::kAllDisabled));
  EXPECT_EQ(world.offered("n1", "gpu"), 4);
  EXPECT_THAT(world.condition("small", "Stalled"), HasSubstr("NodeFailed: n1: "));
  EXPECT_EQ(world.counts("small"),
            "selected 3 updated 0 inProgress 0 blocked 0 failed 1 pending 2");
  EXPECT_EQ(world.phase("n2"), "");
  EXPECT_EQ(world.ledger(), "");
}

struct RolledBack : Failure {
  RolledBack() : Failure("Rollback") {}
};

TEST_F(RolledBack, AForeignValueInMidApplyIsNeverFought) {
  begin();
  ASSERT_TRUE(world.run_until_phase("n1", "Applying"));
  break_agent("fail");
  world.label("n1", names::kMigConfig, "all-1g.10gb");
  ASSERT_TRUE(world.run_until_phase("n1", "Failed"));
  world.run_for(minutes(2));
  EXPECT_EQ(world.label_of("n1", names::kMigConfig), "all-1g.10gb");
  EXPECT_EQ(world.phase("n1"), "Failed");
  EXPECT_THAT(world.condition("small", "Stalled"), HasSubstr("all-1g.10gb"));
}

void expect_going_on_when_edited(Rollout& world) {
  world.edit_layout("small", "devices: [{profiles: {2g.20gb: 3}}]");
  ASSERT_TRUE(world.run_until_ready("small")) << world.details("small");
  EXPECT_EQ(world.offered("n1", "mig-2g.20gb"), 12);
  EXPECT_FALSE(world.cordoned("n1"));
}

TEST_F(Failure, AFailedNodeGoesOnWhenTheLayoutIsEdited) {
  break_agent("fail", 3);
  begin();
  ASSERT_TRUE(world.run_until([&] { return world.count_writes("give up") > 0; }));
  expect_going_on_when_edited(world);
}

TEST_F(RolledBack, ANodeRolledBackGoesOnWhenTheLayoutIsEdited) {
  break_agent("fail", 3);
  begin();
  ASSERT_TRUE(world.run_until([&] { return world.count_writes("roll back") > 0; }));
  expect_going_on_when_edited(world);
}

TEST_F(Failure, AFailedNodeThatAPersonMendsGoesOnByItself) {
  break_agent("lie", 3);
  begin();
  ASSERT_TRUE(world.run_until_phase("n1", "Failed"));
  // mig-manager is made to look at it anew.
  const std::string config = world.label_of("n1", names::kMigConfig);
  world.label("n1", names::kMigConfig, names::kAllDisabled);
  world.run_for(minutes(1));
  world.label("n1", names::kMigConfig, config);
  EXPECT_TRUE(world.run_until_ready("small")) << world.details("small");
}

TEST_F(Failure, AFailedNodeIsReleasedCordonedWhenTheLayoutGoes) {
  break_agent("fail");
  begin();
  ASSERT_TRUE(world.run_until_phase("n1", "Failed"));
  world.act("delete: miglayout/small");
  world.run_for(minutes(1));
  EXPECT_FALSE(world.exists("miglayouts", "small"));
  EXPECT_EQ(world.phase("n1"), "Idle");
  EXPECT_TRUE(world.cordoned("n1"));
  EXPECT_THAT(world.events(), Contains("Node/n1 Released"));
  EXPECT_EQ(world.ledger(), "");
}

TEST_F(Failure, MoreFailuresAreBorneIfTheLayoutSaysSo) {
  break_agent("fail");
  world.edit_layout("small", "rollout: {paused: false, maxFailures: 2, maxUnavailable: 2}");
  ASSERT_TRUE(world.run_until([&] {
    return world.counts("small") ==
           "selected 3 updated 2 inProgress 0 blocked 0 failed 1 pending 0";
  })) << world.counts("small");
}

TEST(Rollback, ThatFailsTooLeavesTheNodeOut) {
  Rollout world("nodes: [{count: 1, labels: {tier: mig}}]");
  world.apply_layout("small", "rollout: {progressDeadline: 2m, failurePolicy: Rollback}");
  ASSERT_TRUE(world.run_until_ready("small"));
  world.act("agent-fault: n1, fault: lie, times: -1");
  world.edit_layout("small", "devices: [{profiles: {2g.20gb: 3}}]");
  ASSERT_TRUE(world.run_until_phase("n1", "Failed")) << world.detail("small", "n1");
  EXPECT_EQ(world.count_writes("roll back"), 1);
  world.run_for(minutes(2));
  EXPECT_EQ(world.phase("n1"), "Failed");
  EXPECT_TRUE(world.cordoned("n1"));
}

// The file that mig-manager has mounted may be older than the config.
TEST(YoungConfig, AFailedIsNotBelieved) {
  Rollout world("nodes: [{count: 1, labels: {tier: mig}}]");
  world.act("agent-fault: n1, fault: fail, times: 1");
  world.apply_layout("small");
  ASSERT_TRUE(world.run_until_ready("small")) << world.details("small");
  EXPECT_EQ(world.count_writes("may not have known"), 1);
  EXPECT_EQ(world.count_writes("try again after"), 0) << "it did not count";
}

}  // namespace
}  // namespace berth::test
