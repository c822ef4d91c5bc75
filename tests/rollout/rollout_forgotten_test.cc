// SPDX-License-Identifier: Apache-2.0
// What people and their tools do to berth's memory of a node, and what a failure leaves: in the end
// no cordon of berth's stays behind.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "apis/base/names.h"
#include "controller/disruption/rollout_annotation.h"
#include "tests/rollout/rollout.h"

namespace berth::test {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

struct Loss {
  const char* name;
  const char* phase;
  const char* record;  // JSON
};
const Loss kLosses[] = {
    {"RemovedWhileItDrains", "Cordoned", "null"},
    {"OverwrittenWhileItDrains", "Cordoned", "\"{junk\""},
    {"RemovedWhileItIsCut", "Applying", "null"},
    {"OverwrittenWhileItIsCut", "Applying", "\"[]\""},
};

struct LostRecord : ::testing::TestWithParam<Loss> {};
INSTANTIATE_TEST_SUITE_P(, LostRecord, ::testing::ValuesIn(kLosses),
                         [](const auto& row) { return std::string(row.param.name); });

TEST_P(LostRecord, BerthGoesOnFromItsLedgerAndReturnsTheNode) {
  Rollout world("nodes: [{count: 2, labels: {tier: mig}}]");
  world.apply_layout("small", "rollout: {order: Name}");
  ASSERT_TRUE(world.run_until_phase("n1", GetParam().phase));
  world.run_for(seconds(2));
  world.annotate("n1", names::kRolloutAnnotation, GetParam().record);
  EXPECT_TRUE(world.run_until_ready("small")) << world.details("small");
  world.run_for(seconds(5));
  EXPECT_FALSE(world.cordoned("n1"));
  EXPECT_FALSE(world.cordoned("n2"));
  EXPECT_EQ(world.ledger(), "");
  EXPECT_THAT(world.events(), Contains("Node/n1 RolloutForgotten"));
}

TEST(LostRecordToo, OfANodeThatAPersonCordonedLeavesThatCordon) {
  Rollout world("nodes: [{name: theirs, labels: {tier: mig}, cordoned: true}]");
  world.apply_layout("small");
  ASSERT_TRUE(world.run_until_phase("theirs", "Applying"));
  world.run_for(seconds(2));
  world.annotate("theirs", names::kRolloutAnnotation, "null");
  EXPECT_TRUE(world.run_until_ready("small")) << world.details("small");
  EXPECT_TRUE(world.cordoned("theirs"));
}

TEST(Cleaner, IsNotFoughtAndIsTold) {
  Rollout world("nodes: [{count: 1, labels: {tier: mig}}]");
  world.apply_layout("small");
  ASSERT_TRUE(world.run_until_phase("n1", "Cordoned"));
  world.run_for(seconds(2));
  world.forget_writes();
  for (int i = 0; i < 250; ++i) {  // 25 seconds
    if (!world.phase("n1").empty()) world.annotate("n1", names::kRolloutAnnotation, "null");
    world.run_for(std::chrono::milliseconds(100));
  }
  EXPECT_LE(world.count_writes("jsonpatch Node/n1"), 2) << ::testing::PrintToString(world.writes());
  EXPECT_THAT(world.detail("small", "n1"), HasSubstr("RolloutForgotten: annotation"));
  EXPECT_THAT(world.condition("small", "Stalled"), HasSubstr("show-managed-fields"));
  EXPECT_TRUE(world.run_until_ready("small")) << world.details("small");
  EXPECT_FALSE(world.cordoned("n1"));
}

TEST(Clone, OfANodeOnItsWayIsANewNode) {
  Rollout world("nodes: [{count: 1, labels: {tier: mig}}, {name: twin, labels: {tier: mig}}]");
  world.act("agent-fault: n1, fault: slow");
  world.apply_layout("small", "rollout: {order: Name}");
  ASSERT_TRUE(world.run_until_phase("n1", "Applying"));
  const Node original = world.node("n1");
  const std::string copy =
      nlohmann::json(original.meta.annotations.get(names::kRolloutAnnotation).str()).dump();
  world.annotate("twin", names::kRolloutAnnotation, copy);
  world.run_for(seconds(5));
  EXPECT_EQ(world.phase("twin"), "") << "removed";
  EXPECT_THAT(world.counts("small"), HasSubstr("failed 0"));
  EXPECT_THAT(world.events(), Contains("Node/twin RolloutForgotten"));
  EXPECT_TRUE(world.run_until_ready("small")) << world.details("small");
}

// --- a failure whose layout is gone ---

struct FailedAndDeleted : ::testing::Test {
  FailedAndDeleted() : world("nodes: [{count: 2, labels: {tier: mig}}]") {
    world.act("agent-fault: n1, fault: fail, times: -1");
    world.apply_layout("small", "rollout: {order: Name}");
    EXPECT_TRUE(world.run_until_phase("n1", "Failed"));
    world.act("delete: miglayout/small");
    EXPECT_TRUE(world.run_until([&] { return !world.exists("miglayouts", "small"); }));
    world.act("agent-fault: n1, fault: none");
  }
  Rollout world;
};

TEST_F(FailedAndDeleted, TheNextSuccessReturnsTheNode) {
  EXPECT_TRUE(world.cordoned("n1"));
  world.apply_layout("other", "", "2g.20gb: 3");
  EXPECT_TRUE(world.run_until_ready("other")) << world.details("other");
  EXPECT_FALSE(world.cordoned("n1"));
  EXPECT_EQ(world.offered("n1", "mig-2g.20gb"), 12);
}

TEST_F(FailedAndDeleted, PutBackByTheNextLayoutItStaysOut) {
  world.apply_layout("other", "rollout: {order: Name}", "2g.20gb: 3");
  ASSERT_TRUE(world.run_until_phase("n1", "Cordoned"));
  world.edit_layout("other", "rollout: {paused: true}");
  world.run_for(minutes(1));
  EXPECT_TRUE(world.cordoned("n1")) << "its GPUs are not in order";
  world.edit_layout("other", "rollout: {paused: false}");
  EXPECT_TRUE(world.run_until_ready("other")) << world.details("other");
  EXPECT_FALSE(world.cordoned("n1"));
}

TEST_F(FailedAndDeleted, WhoUncordonsItHasItAndACordonOfTheirsStays) {
  world.act("uncordon: n1");
  world.run_for(seconds(5));
  world.act("cordon: n1");
  world.apply_layout("other", "rollout: {maxUnavailable: 2}", "2g.20gb: 3");
  EXPECT_TRUE(world.run_until_ready("other")) << world.details("other");
  EXPECT_TRUE(world.cordoned("n1"));
}

}  // namespace
}  // namespace berth::test
