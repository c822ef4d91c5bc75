// SPDX-License-Identifier: Apache-2.0
#include "controller/disruption/disruption_budgets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apis/base/reasons.h"
#include "tests/mig/planned_cluster.h"
#include "tests/policy/policy_yaml.h"

namespace berth::test {
namespace {

using ::testing::HasSubstr;

constexpr char kPools[] =
    "pools: [{name: mig, nodeSelector: {matchLabels: {tier: mig}}}, "
    "{name: lab, nodeSelector: {matchLabels: {tier: lab}}}], disruption: {maxUnavailable: 2}";

// Pool mig has n1…n4, pool lab l1; c1 has no GPU, o1 is in no pool.
struct DisruptionBudgetsTest : ::testing::Test {
  DisruptionBudgetsTest() {
    world.add(policy(kPools)).add_nodes(4);
    world.add(node("l1").a100_80(4).label("tier", "lab"));
    world.add(node("c1").label("tier", "mig").cordoned());
    world.add(node("o1").a100_80(4));
  }
  DisruptionBudgets budgets() {
    snapshot.emplace(world.snapshot());
    ledger = read_ledger(*snapshot);
    return DisruptionBudgets(*snapshot, ledger);
  }
  const Node& at(const char* name) { return *world.cluster.nodes().find(name); }
  PlannedCluster world;
  std::optional<Snapshot> snapshot;
  SlotLedger ledger;
};

TEST_F(DisruptionBudgetsTest, APoolHasRoomUntilItsBudgetIsTaken) {
  DisruptionBudgets all = budgets();
  EXPECT_FALSE(all.closed());
  EXPECT_FALSE(all.refuse(at("n1")));
  all.take(at("n1"));
  EXPECT_FALSE(all.refuse(at("n2"))) << "one more";
  all.take(at("n2"));
  const auto refused = all.refuse(at("n3"));
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->reason, reasons::kPoolMaxUnavailable);
  EXPECT_THAT(refused->message,
              HasSubstr("allows 2 of the 4 nodes of pool mig to be unavailable, and 2 are"));
  EXPECT_FALSE(all.refuse(at("l1"))) << "another pool's room is its own";
  EXPECT_FALSE(all.refuse(at("o1"))) << "no pool, no budget";
}

// The node still has the pool's keys, and the pool's budget applies, even without the pool in the
// policy.
TEST_F(DisruptionBudgetsTest, ANodeThatNoPoolSelectsCountsInThePoolWhoseKeysItCarries) {
  for (const char* name : {"x1", "x2", "x3"})
    world.add(node(name)
                  .a100_80(4)
                  .label(names::kPoolLabel, "gone")
                  .annotation(names::kPoolKeysAnnotation, "{}"));
  DisruptionBudgets all = budgets();
  all.take(at("x1")), all.take(at("x2"));
  ASSERT_TRUE(all.refuse(at("x3")));
  EXPECT_THAT(all.refuse(at("x3"))->message,
              HasSubstr("allows 2 of the 3 nodes of pool gone to be unavailable, and 2 are"));
  world.add(node("x3").a100_80(4).label(names::kPoolLabel, "gone"));
  EXPECT_FALSE(all.refuse(at("x3"))) << "the label alone is not berth's";
}

TEST_F(DisruptionBudgetsTest, ThoseOfAPolicyThatIsBeingDeletedHoldUntilItIsGone) {
  GPUClusterPolicy going = policy(kPools);
  going.meta.deletion_timestamp = world.now;
  world.add(going);
  DisruptionBudgets all = budgets();
  all.take(at("n1")), all.take(at("n2"));
  EXPECT_TRUE(all.refuse(at("n3")));
}

TEST_F(DisruptionBudgetsTest, ASlotOfANodeThatTheCacheDoesNotKnowMayBeInAnyPool) {
  world.claim("n9", "small");
  DisruptionBudgets all = budgets();
  EXPECT_FALSE(all.refuse(at("n1")));
  all.take(at("n1"));
  EXPECT_TRUE(all.refuse(at("n2")));
  world.add(node("l2").a100_80(4).label("tier", "lab").cordoned());
  EXPECT_TRUE(budgets().refuse(at("l1")));
  world.add(node("n9").a100_80(4).label("tier", "mig"));
  EXPECT_FALSE(budgets().refuse(at("l1"))) << "it is in the other";
}

TEST_F(DisruptionBudgetsTest, WhatIsOutForWhateverReasonCountsAndCostsNothingMore) {
  struct Case {
    const char* sentence;
    std::function<void()> take_out;  // takes n1 out of service
  };
  const MIGLayout small = under_way(layout("small"));
  const Case cases[] = {
      {"cordoned", [&] { world.add(node("n1").a100_80(4).label("tier", "mig").cordoned()); }},
      {"not Ready", [&] { world.add(node("n1").a100_80(4).label("tier", "mig").not_ready()); }},
      {"claimed", [&] { world.claim("n1", "small"); }},
      {"on its way, though in service",
       [&] {
         Node moved = on_its_way(node("n1").a100_80(4).label("tier", "mig"), small, "c",
                                 RolloutPhase::kCordoned, world.now);
         moved.unschedulable.reset();
         world.add(moved);
       }},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.sentence);
    PlannedCluster fresh;
    world = fresh;
    world.add(policy(kPools)).add_nodes(4);
    c.take_out();
    DisruptionBudgets some = budgets();
    some.take(at("n1"));
    EXPECT_FALSE(some.refuse(at("n2")));
    some.take(at("n2"));
    EXPECT_TRUE(some.refuse(at("n3"))) << "n1 and n2 are out";
    EXPECT_FALSE(some.refuse(at("n1")));
  }
}

TEST_F(DisruptionBudgetsTest, OutsideTheWindowsItIsClosedUntilTheNextOpens) {
  world.add(policy(std::string(kPools).substr(0, std::string(kPools).find(", disruption")) +
                   ", disruption: {windows: [{schedule: \"0 22 * * *\", duration: 2h}]}"));
  DisruptionBudgets closed = budgets();
  ASSERT_TRUE(closed.closed());
  EXPECT_EQ(closed.closed()->reason, reasons::kDisruptionWindow);
  EXPECT_THAT(closed.closed()->message, HasSubstr("before 2026-11-21T22:00:00Z"));
  EXPECT_EQ(closed.changes_at(), *parse_time("2026-11-21T22:00:00Z"));
  world.now = *parse_time("2026-11-21T23:00:00Z");
  DisruptionBudgets open = budgets();
  EXPECT_FALSE(open.closed());
  EXPECT_EQ(open.changes_at(), *parse_time("2026-11-22T00:00:00Z"));
}

// A blackout in an unknown time zone may be at any time.
TEST_F(DisruptionBudgetsTest, WhereNoWindowEverOpensItSaysWhatToEdit) {
  world.add(policy(std::string(kPools).substr(0, std::string(kPools).find(", disruption")) +
                   ", disruption: {blackouts: [{schedule: \"0 22 * * *\", duration: 2h, timeZone: "
                   "Mars/Olympus}]}"));
  DisruptionBudgets never = budgets();
  ASSERT_TRUE(never.closed());
  EXPECT_THAT(never.closed()->message, HasSubstr("no window opens again; edit"));
  EXPECT_EQ(never.changes_at(), std::nullopt);
}

TEST_F(DisruptionBudgetsTest, WithoutAPolicyEverythingIsAllowed) {
  world.cluster.erase<GPUClusterPolicy>("", "cluster");
  DisruptionBudgets none = budgets();
  EXPECT_FALSE(none.closed());
  for (const char* name : {"n1", "n2", "n3", "n4"}) {
    EXPECT_FALSE(none.refuse(at(name)));
    none.take(at(name));
  }
}

TEST_F(DisruptionBudgetsTest, NoWindowIsOpenWhileTheClockIsWrong) {
  world.attention.clock_skew = -std::chrono::hours(1);
  EXPECT_FALSE(budgets().closed()) << "without windows and blackouts nothing hangs on the clock";
  world.add(policy(std::string(kPools).substr(0, std::string(kPools).find(", disruption")) +
                   ", disruption: {windows: [{schedule: \"* * * * *\", duration: 1h}]}"));
  const DisruptionBudgets closed = budgets();
  ASSERT_TRUE(closed.closed());
  EXPECT_EQ(closed.closed()->reason, reasons::kDisruptionWindow);
  EXPECT_THAT(closed.closed()->message, HasSubstr("berth's clock is 1h behind the API server's"));
  EXPECT_EQ(closed.changes_at(), world.now + kMaxClockSkew);
}

}  // namespace
}  // namespace berth::test
