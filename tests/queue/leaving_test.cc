// SPDX-License-Identifier: Apache-2.0
// Leaving workloads (rule 9): which of them an admission waits for, which it does not rely on, and
// that nothing is preempted for capacity that is about to be free.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controller/queue/cycle/early_starts.h"
#include "tests/queue/preemption_facts.h"

namespace berth::queue::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// A pod of the workload on the node that is being deleted and hangs from that time on.
void add_leaving(LittleCluster& facts, const std::string& workload, const std::string& queue,
                 std::int64_t gpus, const std::string& node, std::int64_t hangs_from,
                 std::int64_t group_size = 1) {
  const std::string uid = workload + "-" + std::to_string(facts.pods.size());
  facts.pods.push_back({.uid = uid,
                        .workload = workload,
                        .queue = queue,
                        .group_size = group_size,
                        .requests = {{kGpu, gpus}},
                        .state = PodState::kLeaving,
                        .hangs_from = hangs_from,
                        .node = node,
                        .admitted = AdmissionFact{.uid = uid,
                                                  .queue = queue,
                                                  .cohort = "c",
                                                  .pool = "training",
                                                  .pods = group_size,
                                                  .amounts = {{kGpu, gpus * group_size}},
                                                  .since = 1}});
}

// --- Which workloads an admission waits for ---

TEST(Awaited, AreOnlyThoseWithoutWhomItDoesNotFit) {
  LittleCluster facts;
  facts.add_node("n1", 2), facts.add_node("n2", 2);
  facts.add_queue("a", 4);
  add_leaving(facts, "Pod/ns/soon", "a", 2, "n1", kNow + 10);
  add_leaving(facts, "Pod/ns/later", "a", 2, "n2", kNow + 20);
  facts.add_waiting("a1", "a", 2);
  EXPECT_THAT(awaited(facts), ElementsAre("a1 awaits Pod/ns/soon"));
  facts.add_waiting("a2", "a", 2);
  EXPECT_THAT(awaited(facts),
              ElementsAre("a1 awaits Pod/ns/soon", "a2 awaits Pod/ns/soon awaits Pod/ns/later"))
      << "the quota of the first is a1's";
}

TEST(Awaited, IsNobodyWhoseQuotaAndRoomAreNotNeeded) {
  LittleCluster facts;
  facts.add_node("n1", 4), facts.add_node("n2", 4);
  facts.add_queue("a", 8);
  add_leaving(facts, "Pod/ns/gone", "a", 4, "lost", kNow + 10);
  facts.add_running("a0", "a", 4, {"n1"});
  facts.stop("a0");
  facts.pods.back().state = PodState::kLeaving;
  facts.pods.back().hangs_from = kNow + 20;
  facts.add_running("a1", "a", 4, {"n2"}, 1);
  facts.add_waiting("a2", "a", 4);
  facts.queues[0].quotas[0].nominal = 12;
  EXPECT_THAT(awaited(facts), ElementsAre("a2 awaits a0"))
      << "what stood on the lost node holds quota, and no room";
}

// --- What hangs ---

TEST(Hanging, IsNotCountedOn) {
  LittleCluster facts;
  facts.add_node("n", 2);
  facts.add_queue("a", 2);
  add_leaving(facts, "Pod/ns/stuck", "a", 1, "n", kNow + 1);
  facts.add_waiting("a1", "a", 2);
  EXPECT_THAT(awaited(facts), ElementsAre("a1 awaits Pod/ns/stuck"));
  EXPECT_THAT(awaited(facts, kNow + 1), IsEmpty());
}

TEST(Hanging, IsNotWaitedForByWhatFitsBesideIt) {
  LittleCluster facts;
  facts.add_node("n", 4);
  facts.add_queue("a", 4);
  add_leaving(facts, "Pod/ns/stuck", "a", 1, "n", kNow - 1);
  facts.add_waiting("a1", "a", 1), facts.add_waiting("a2", "a", 2);
  EXPECT_THAT(awaited(facts), ElementsAre("a1", "a2"));
}

// The hanging workload counts first against the nominal quota: berth reclaims only what can leave.
TEST(Hanging, MakesBorrowedWhatTheNominalQuotaDoesNotPayForBesideIt) {
  LittleCluster facts;
  facts.add_node("n", 4);
  facts.add_queue("a", 2), facts.add_queue("b", 2);
  add_leaving(facts, "Pod/ns/stuck", "b", 1, "n", kNow - 1);
  facts.add_running("b", 2, "n");
  facts.add_waiting("a1", "a", 2);
  EXPECT_THAT(decided(facts), ElementsAre("a1 after b2"));
  facts.pods[0].hangs_from = kNow + 1;
  EXPECT_THAT(decided(facts), ElementsAre("a1 after others"));
}

TEST(Hanging, IsDisplacedForNobody) {
  LittleCluster facts;
  facts.add_node("n", 2);
  facts.add_queue("a", 2), facts.add_queue("b", 0);
  add_leaving(facts, "PodGroup/ns/stuck", "b", 1, "n", kNow - 1, 2);
  add_leaving(facts, "PodGroup/ns/stuck", "b", 1, "n", kNow - 1, 2);
  facts.add_waiting("a1", "a", 2);
  EXPECT_THAT(decided(facts), IsEmpty());
}

// --- What is being deleted ---

TEST(Deleted, AGangWhosePodsAllGoLeaves) {
  LittleCluster facts;
  facts.add_node("n", 4);
  facts.add_queue("a", 4), facts.add_queue("b", 0);
  add_leaving(facts, "PodGroup/ns/gang", "b", 1, "n", kNow + 1, 2);
  add_leaving(facts, "PodGroup/ns/gang", "b", 1, "n", kNow + 1, 2);
  facts.add_running("innocent", "b", 2, {"n"});
  facts.add_waiting("a1", "a", 2);
  EXPECT_THAT(awaited(facts), ElementsAre("a1 awaits PodGroup/ns/gang"));
  facts.pods[0].state = PodState::kBound;
  EXPECT_THAT(decided(facts), ElementsAre("a1 after PodGroup/ns/gang"))
      << "a gang of which one pod goes is displaced like any other";
}

TEST(Deleted, AJobLeavesWithAllItsPods) {
  LittleCluster facts;
  facts.add_node("n", 4);
  facts.add_queue("a", 4), facts.add_queue("b", 0);
  facts.add_running("gone", "b", 2, {"n"});
  facts.add_running("innocent", "b", 2, {"n"});
  facts.add_waiting("a1", "a", 2);
  JobFact& job = facts.jobs[0];
  job.parallelism = 0, job.hangs_from = kNow + 1;
  EXPECT_THAT(awaited(facts), ElementsAre("a1 awaits gone"));
  EXPECT_THAT(decided(facts, kNow + 1), ElementsAre("a1 after innocent")) << "its pods stay";
}

TEST(Deleted, AJobIsNotOfferedAndItsEntryHoldsNothing) {
  LittleCluster facts;
  facts.add_node("n", 4);
  facts.add_queue("a", 4);
  JobFact& job = facts.add_waiting("a1", "a", 4);
  facts.ledger.push_back({.workload = "a1",
                          .admission = {.uid = job.uid,
                                        .queue = "a",
                                        .cohort = "c",
                                        .pool = "training",
                                        .amounts = {{kGpu, 4}},
                                        .since = kNow - 1,
                                        .nodes = {"n"}}});
  job.parallelism = 0, job.hangs_from = kNow + 1;
  facts.add_waiting("a2", "a", 4);
  EXPECT_THAT(decided(facts), ElementsAre("a2"));
}

// --- What would fit without waiting ---

class EarlyStartsTest : public ::testing::Test {
 protected:
  static constexpr std::int64_t kThen = 1;  // when the admissions were decided
  void wait_for(const std::string& name, std::int64_t gpus, const std::string& ahead,
                bool evicted = false) {
    const JobFact& job = facts.add_waiting(name, "a", gpus);
    facts.ledger.push_back({.workload = name,
                            .admission = {.uid = job.uid,
                                          .queue = "a",
                                          .cohort = "c",
                                          .pool = "training",
                                          .amounts = {{kGpu, gpus}},
                                          .since = kThen,
                                          .nodes = {"n"}},
                            .ahead = {{.workload = ahead, .uid = ahead, .evicted = evicted}}});
  }
  std::vector<std::string> found(std::int64_t now = kThen + kWaitsAtLeast) {
    FactsIndex index;
    fill(facts, index);
    const auto displaces = [](const Workload& of) { return of.in_flight->ahead[0].evicted; };
    std::vector<std::string> names;
    const auto& all = index.waiting_for_others();
    for (const Workload* workload :
         find_early_starts(index, {all.begin(), all.end()}, displaces, now))
      names.push_back(*workload->name);
    return names;
  }
  LittleCluster facts;
};

TEST_F(EarlyStartsTest, AreFoundOnceOthersHaveEnded) {
  facts.add_node("n", 4), facts.add_queue("a", 4);
  add_leaving(facts, "Pod/ns/stuck", "a", 1, "n", 0);
  wait_for("first", 1, "Pod/ns/stuck");
  EXPECT_THAT(found(kThen + kWaitsAtLeast - 1), IsEmpty());
  EXPECT_THAT(found(), ElementsAre("first"));
  facts.add_running("a0", "a", 3, {"n"});
  EXPECT_THAT(found(), IsEmpty());
}

TEST_F(EarlyStartsTest, ThoseBehindGiveBackWhatTheFirstNeeds) {
  facts.add_node("n", 4), facts.add_queue("a", 4);
  add_leaving(facts, "Pod/ns/stuck", "a", 2, "n", 0);
  wait_for("first", 2, "Pod/ns/stuck"), wait_for("second", 2, "Pod/ns/stuck");
  EXPECT_THAT(found(), ElementsAre("first", "second"));
}

TEST_F(EarlyStartsTest, WhatSomebodyIsDisplacedForKeepsItsPlace) {
  facts.add_node("n", 4), facts.add_queue("a", 4);
  add_leaving(facts, "Pod/ns/stuck", "a", 2, "n", 0);
  wait_for("first", 2, "Pod/ns/stuck"), wait_for("second", 2, "Pod/ns/victim", true);
  EXPECT_THAT(found(), IsEmpty());
  facts.ledger[0].ahead[0].evicted = true;
  facts.ledger.pop_back(), facts.jobs.pop_back();
  EXPECT_THAT(found(), ElementsAre("first")) << "nobody has to go for it any more";
}

}  // namespace
}  // namespace berth::queue::test
