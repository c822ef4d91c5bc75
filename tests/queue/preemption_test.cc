// SPDX-License-Identifier: Apache-2.0
// Which workloads may be preempted for which (rule 9), case by case: work within the nominal quota
// stays, borrowing work can be reclaimed, and lower priorities of the own queue are preempted.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "tests/queue/model.h"
#include "tests/queue/preemption_facts.h"
#include "tests/queue/preemption_play.h"

namespace berth::queue::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// --- Reclaim ---

// "b" uses six of eight GPUs, two of them borrowed.
LittleCluster lent() {
  LittleCluster facts;
  facts.add_node("n", 8);
  facts.add_queue("a", 4), facts.add_queue("b", 4);
  facts.add_running("b", 6, "n");
  return facts;
}

TEST(Reclaim, TakesBackWhatOthersHaveBorrowed) {
  LittleCluster facts = lent();
  facts.add_waiting("a1", "a", 3);
  EXPECT_THAT(decided(facts), ElementsAre("a1 after b6")) << "two are free, one is wanted";
}

TEST(Reclaim, IsForThoseWhoStayWithinTheirNominalQuota) {
  LittleCluster facts = lent();
  facts.add_running("a0", "a", 2, {"n"});
  facts.add_waiting("a1", "a", 3);
  EXPECT_THAT(decided(facts), IsEmpty());
  facts.jobs.back().requests = {{kGpu, 2}};
  EXPECT_THAT(decided(facts), ElementsAre("a1 after b6,b5"));
}

TEST(Reclaim, IsAsTheReclaimingQueueHasIt) {
  LittleCluster facts = lent();
  facts.queues[0].preemption.others = Reclaims::kNever;
  facts.add_waiting("a1", "a", 3);
  EXPECT_THAT(decided(facts), IsEmpty());
  facts.queues[0].preemption.others = Reclaims::kLowerPriority;
  EXPECT_THAT(decided(facts), IsEmpty()) << "they have the same priority";
  facts.jobs.back().priority = 1;
  EXPECT_THAT(decided(facts), ElementsAre("a1 after b6"));
}

TEST(Reclaim, AHeldQueueGivesBackToo) {
  LittleCluster facts = lent();
  facts.queues[1].held = true;
  facts.add_waiting("a1", "a", 3);
  EXPECT_THAT(decided(facts), ElementsAre("a1 after b6"));
}

TEST(Reclaim, StopsAtTheCohort) {
  LittleCluster facts = lent();
  facts.queues[0].cohort = "others";
  facts.add_waiting("a1", "a", 3);
  EXPECT_THAT(decided(facts), IsEmpty());
}

TEST(Reclaim, AllWorkOfADeletedQueueIsBorrowed) {
  LittleCluster facts = lent();
  facts.queues.pop_back();
  facts.queues[0].quotas[0].lending_limit = 0;
  facts.add_waiting("a1", "a", 4);
  EXPECT_THAT(decided(facts), ElementsAre("a1 after b6,b5"));
}

// They can't be reclaimed: the excess is the queue's own admitted work.
TEST(Reclaim, PodsPastTheWebhookHoldTheNominalQuotaFirst) {
  LittleCluster facts;
  facts.add_node("n", 4);
  facts.add_queue("a", 2), facts.add_queue("b", 2);
  facts.add_running("b1", "b", 2, {"n"}, 9);
  facts.pods.push_back({.uid = "sneaked",
                        .workload = "sneaked",
                        .queue = "b",
                        .requests = {{kGpu, 2}},
                        .state = PodState::kBound,
                        .node = "n"});
  facts.add_waiting("a1", "a", 1);
  EXPECT_THAT(decided(facts), ElementsAre("a1 after b1"));
}

// --- Work that can't be reclaimed ---

PodFact bare(const std::string& name, const std::string& queue, std::int64_t gpus) {
  return {.uid = "uid-" + name,
          .workload = name,
          .queue = queue,
          .stays = true,
          .requests = {{kGpu, gpus}}};
}

void run_bare(LittleCluster& facts, const std::string& name, const std::string& queue,
              std::int64_t gpus) {
  PodFact pod = bare(name, queue, gpus);
  pod.state = PodState::kBound, pod.node = "n";
  pod.admitted = AdmissionFact{.uid = pod.uid,
                               .queue = queue,
                               .cohort = "c",
                               .pool = "training",
                               .amounts = {{kGpu, gpus}},
                               .since = kNow - 1};
  facts.pods.push_back(pod);
}

std::string why(const LittleCluster& facts, const std::string& workload) {
  FactsIndex index;
  fill(facts, index);
  const Outcome outcome = decide(index, 1000, kNow);
  EXPECT_EQ(print(outcome), print(decide_by_the_book(facts, 1000, kNow)));
  return outcome.waiting.at(workload);
}

TEST(Irrevocable, IsAdmittedWithinTheNominalQuotaOnly) {
  LittleCluster facts;
  facts.add_node("n", 8);
  facts.add_queue("a", 4), facts.add_queue("b", 4);
  facts.add_running("b", 3, "n");
  facts.pods = {facts.pods[0], facts.pods[1], facts.pods[2], bare("one", "b", 1),
                bare("two", "b", 1)};
  facts.pods[4].created = 1;
  EXPECT_THAT(decided(facts), ElementsAre("one"));
  EXPECT_EQ(why(facts, "two"), "MayNotBorrow nvidia.com/gpu training 1 0 4 ");
  facts.add_waiting("job", "b", 4);
  EXPECT_THAT(decided(facts), ElementsAre("one", "job")) << "it is in no other's way";
  facts.queues[1].preemption.stays_may_borrow = true;
  EXPECT_THAT(decided(facts), ElementsAre("one", "two")) << "the queue says otherwise";
}

TEST(Irrevocable, IsNotOfferedIfItIsMoreThanTheNominalQuota) {
  LittleCluster facts;
  facts.add_node("n", 8);
  facts.add_queue("a", 8), facts.add_queue("b", 0);
  facts.queues[1].strict_fifo = true;
  facts.pods = {bare("one", "b", 1)};
  facts.add_waiting("job", "b", 1);
  EXPECT_EQ(why(facts, "one"), "MayNotBorrow nvidia.com/gpu training 1 0 0 ");
  EXPECT_THAT(decided(facts), ElementsAre("job"));
}

// If the Job with the higher priority were within the nominal quota, "a" could not get its fourth
// GPU.
TEST(Irrevocable, HoldsTheNominalQuotaFirst) {
  LittleCluster facts;
  facts.add_node("n", 8);
  facts.add_queue("a", 4), facts.add_queue("b", 4);
  facts.add_running("high", "b", 4, {"n"}, 9);
  run_bare(facts, "bare", "b", 4);
  facts.add_waiting("a1", "a", 1);
  EXPECT_THAT(decided(facts), ElementsAre("a1 after high"));
}

TEST(Irrevocable, YieldsToNobody) {
  LittleCluster facts;
  facts.add_node("n", 4);
  facts.add_queue("a", 4), facts.add_queue("b", 0);
  run_bare(facts, "bare", "b", 4);
  facts.add_waiting("a1", "a", 1);
  EXPECT_THAT(decided(facts), IsEmpty());
}

TEST(Irrevocable, ReclaimsForItselfWithinTheNominalQuota) {
  LittleCluster facts = lent();
  facts.pods.push_back(bare("one", "a", 3));
  EXPECT_THAT(decided(facts), ElementsAre("one after b6"));
}

// Protected workloads are victims of last resort.
TEST(Budgets, KeepWhatIsBorrowedOnlyIfOthersSuffice) {
  LittleCluster facts = lent();
  facts.kept = {"b6"};
  facts.add_waiting("a1", "a", 3);
  const auto decided_with = [&] {
    FactsIndex index;
    fill(facts, index);
    const Outcome outcome = decide(index, 1000, kNow, facts.kept);
    EXPECT_EQ(print(outcome), print(decide_by_the_book(facts, 1000, kNow)));
    return outcome.admitted.empty() ? "" : outcome.admitted.front();
  };
  EXPECT_THAT(decided_with(), testing::HasSubstr("after b5"));
  facts.jobs.back().requests = {{kGpu, 4}};
  EXPECT_THAT(decided_with(), testing::HasSubstr("after b5,b6"));
}

// --- Work within the nominal quota ---

TEST(Funded, OnlyTheFifthOfFourCanBeReclaimed) {
  LittleCluster facts;
  facts.add_node("n", 5);
  facts.add_queue("a", 2), facts.add_queue("b", 4);
  facts.add_running("b", 5, "n");
  facts.add_waiting("a1", "a", 1);
  EXPECT_THAT(decided(facts), ElementsAre("a1 after b5"));
  facts.jobs.back().requests = {{kGpu, 2}};
  EXPECT_THAT(decided(facts), IsEmpty()) << "else borrowing one would put all five at risk";
}

TEST(Funded, IsTheHighestPriorityAndThenWhoCameFirst) {
  LittleCluster facts;
  facts.add_node("n", 3);
  facts.add_queue("a", 1), facts.add_queue("b", 2);
  facts.add_running("b", 2, "n");
  facts.add_running("b3", "b", 1, {"n"}, 5);
  facts.add_waiting("a1", "a", 1);
  EXPECT_THAT(decided(facts), ElementsAre("a1 after b2"));
}

TEST(Funded, IsDecidedResourceByResource) {
  LittleCluster facts;
  facts.add_node("n", 1);
  facts.nodes[0].offers.emplace_back(kMig, 2);
  facts.add_queue("a", 1), facts.add_queue("b", 1);
  facts.queues[0].quotas.push_back({.resource = kMig, .pool = "training", .nominal = 2});
  facts.queues[1].quotas.push_back({.resource = kMig, .pool = "training", .nominal = 0});
  facts.add_running("b1", "b", 1, {"n"});
  JobFact& borrows = facts.add_running("b2", "b", 0, {"n"});
  borrows.requests = facts.pods.back().requests = {{kMig, 1}};
  borrows.admitted->amounts = {{kMig, 1}};
  facts.add_waiting("a1", "a", 1);
  EXPECT_THAT(decided(facts), IsEmpty()) << "what it runs of the GPU is paid for";
  facts.jobs.back().requests = {{kMig, 2}};
  EXPECT_THAT(decided(facts), ElementsAre("a1 after b2"));
}

// --- Lower priority of the own queue ---

TEST(Preemption, AWorkloadThatIsFundedTakesAnyLowerPriority) {
  LittleCluster facts;
  facts.add_node("n", 2);
  facts.add_queue("a", 2);
  facts.add_running("a", 2, "n");
  facts.add_waiting("same", "a", 1);
  EXPECT_THAT(decided(facts), IsEmpty());
  facts.add_waiting("high", "a", 1, 1);
  EXPECT_THAT(decided(facts), ElementsAre("high after a2"));
  facts.queues[0].preemption.own = false;
  EXPECT_THAT(decided(facts), IsEmpty());
}

// "b" lends three. "a" runs two within its nominal quota and two borrowed.
TEST(Preemption, AWorkloadThatIsNotFundedTakesWhatIsBorrowed) {
  LittleCluster facts;
  facts.add_node("n", 5);
  facts.add_queue("a", 2), facts.add_queue("b", 3);
  facts.add_running("a", 4, "n");
  facts.add_waiting("high", "a", 3, 1);
  EXPECT_THAT(decided(facts), ElementsAre("high after a4,a3"));
  facts.jobs.back().requests = {{kGpu, 4}};
  EXPECT_THAT(decided(facts), IsEmpty()) << "the other two are funded";
}

TEST(Preemption, WhatIsOwnCountsAsGoneForThePlaceWithinNominal) {
  LittleCluster facts;
  facts.add_node("n", 8);
  facts.add_queue("a", 4), facts.add_queue("b", 4);
  facts.add_running("low", "a", 2, {"n"});
  facts.add_running("b", 6, "n");
  facts.add_waiting("high", "a", 4, 1);
  EXPECT_THAT(decided(facts), ElementsAre("high after b6,b5,low"));
  facts.jobs.back().priority = 0;
  EXPECT_THAT(decided(facts), IsEmpty()) << "then low stays, and it would be above";
}

// --- Workloads that already leave ---

TEST(Leaving, IsNotPaidTwice) {
  LittleCluster facts;
  facts.add_node("n", 8);
  facts.add_queue("a", 4), facts.add_queue("b", 4);
  facts.add_running("b", 8, "n");
  facts.add_waiting("a1", "a", 1), facts.add_waiting("a2", "a", 1);
  EXPECT_THAT(decided(facts), ElementsAre("a1 after b8", "a2 after b7"));
  facts.stop("b3");
  EXPECT_THAT(decided(facts), ElementsAre("a1 after others", "a2 after b8"));
  facts.stop("b4");
  EXPECT_THAT(decided(facts), ElementsAre("a1 after others", "a2 after others"));
}

TEST(Leaving, IsWhatTheLedgerTakesBackForSomebody) {
  LittleCluster facts;
  facts.add_node("n", 2);
  facts.add_queue("a", 2), facts.add_queue("b", 0);
  facts.add_running("b", 2, "n");
  const JobFact preemptor = facts.add_waiting("a1", "a", 1);
  facts.ledger.push_back(
      {.workload = "a1",
       .admission = {.uid = preemptor.uid,
                     .queue = "a",
                     .cohort = "c",
                     .pool = "training",
                     .amounts = {{kGpu, 1}},
                     .since = kNow - 1,
                     .nodes = {"n"}},
       .ahead = {{.workload = "b1", .uid = "uid-b1", .since = 0, .evicted = true}}});
  facts.add_waiting("a2", "a", 1);
  EXPECT_THAT(decided(facts), ElementsAre("a2 after b2")) << "the place of b1 is a1's";
}

TEST(Leaving, WhoeverFitsBesideItDoesNotWait) {
  LittleCluster facts;
  facts.add_node("n", 3);
  facts.add_queue("a", 3), facts.add_queue("b", 0);
  facts.add_running("b", 2, "n");
  facts.stop("b2");
  facts.add_waiting("a1", "a", 1), facts.add_waiting("a2", "a", 1);
  EXPECT_THAT(decided(facts), ElementsAre("a1", "a2 after others"));
}

// --- Weaker rules never come to rest ---

// For any order of events.
void expect_rest(const LittleCluster& facts) {
  for (unsigned seed = 0; seed < 50; ++seed) {
    std::mt19937 random(seed);
    PreemptionPlay play(facts, [&](std::size_t n) { return random() % n; });
    EXPECT_TRUE(play.run(1000)) << "seed " << seed;
    EXPECT_THAT(play.faults(), IsEmpty()) << "seed " << seed;
  }
}

// If all work of a borrower were a victim, small workloads would reclaim the large one of the other
// queue, and large ones would preempt their own small ones, again and again.
TEST(Quiet, ComesWhereBigOnesBorrowAndSmallOnesReclaim) {
  LittleCluster facts;
  facts.add_node("n1", 1), facts.add_node("n2", 1);
  facts.refusals = {{"n1 alone", "n2"}};
  facts.add_queue("a", 1), facts.add_queue("b", 1);
  facts.add_running("Job/ns/b-big", "b", 1, {"n1", "n2"}, 10);
  facts.add_waiting("Job/ns/a-small", "a", 1).rules = "n1 alone";
  facts.add_waiting("Job/ns/a-big", "a", 1, 10, 2);
  facts.add_waiting("Job/ns/b-small", "b", 1).rules = "n1 alone";
  expect_rest(facts);
}

// Each queue borrows what the other does not. If all work of a borrower were a victim, the two
// would take the one GPU from each other again and again.
TEST(Quiet, ComesWhereBothBorrowSomethingElse) {
  LittleCluster facts;
  facts.add_node("n", 1);
  facts.nodes[0].offers.emplace_back("example.com/y", 1);
  facts.nodes[0].offers.emplace_back("example.com/z", 1);
  for (const char* name : {"a", "b"}) {
    QueueFact& queue = facts.add_queue(name, 1);
    for (const char* resource : {"example.com/y", "example.com/z"})
      queue.quotas.push_back({.resource = resource,
                              .pool = "training",
                              .nominal = (resource[12] == 'y') == (queue.name == "a") ? 1 : 0});
  }
  const auto borrow = [&](const std::string& queue, const std::string& resource) {
    JobFact& job = facts.add_running("Job/ns/" + queue + "-borrows", queue, 0, {"n"});
    job.requests = facts.pods.back().requests = job.admitted->amounts = {{resource, 1}};
  };
  borrow("a", "example.com/z"), borrow("b", "example.com/y");
  facts.add_running("Job/ns/a1", "a", 1, {"n"});
  facts.add_waiting("Job/ns/b1", "b", 1);
  EXPECT_THAT(decided(facts), IsEmpty());
  expect_rest(facts);
}

}  // namespace
}  // namespace berth::queue::test
