// SPDX-License-Identifier: Apache-2.0
// Which of several possible victims are chosen (rule 9): in which order, which are spared, which
// have not run long enough or must not be preempted; in which pool; and which workload waits for
// which.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controller/queue/cycle/cycle.h"
#include "tests/queue/preemption_facts.h"

namespace berth::queue::test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::Field;
using testing::IsEmpty;

// "b" has borrowed all of four GPUs, which "a" reclaims.
LittleCluster borrowed(int jobs = 4) {
  LittleCluster facts;
  facts.add_node("n", 4);
  facts.add_queue("a", 4), facts.add_queue("b", 0);
  facts.add_running("b", jobs, "n");
  return facts;
}

TEST(Victims, AreThoseOfTheLowestPriority) {
  LittleCluster facts = borrowed();
  facts.jobs[3].priority = 1, facts.jobs[2].priority = 2;
  facts.add_waiting("a1", "a", 2);
  EXPECT_THAT(decided(facts), ElementsAre("a1 after b2,b1"));
}

// The first has run longest, and has just made a checkpoint.
TEST(Victims, AreThoseWhoLoseTheLeastWork) {
  LittleCluster facts = borrowed();
  facts.jobs[0].checkpoint = kNow - 1;
  facts.jobs[1].checkpoint = 1;
  facts.add_waiting("a1", "a", 1);
  EXPECT_THAT(decided(facts), ElementsAre("a1 after b1"));
  facts.jobs[0].checkpoint = 0;
  EXPECT_THAT(decided(facts), ElementsAre("a1 after b4")) << "the latest has the least to lose";
}

TEST(Victims, LoseByTheGpusThatTheyHold) {
  LittleCluster facts = borrowed(0);
  facts.add_running("wide", "b", 3, {"n"}).admitted->since = kNow - 10;
  facts.add_running("long", "b", 1, {"n"}).admitted->since = kNow - 20;
  facts.add_waiting("a1", "a", 1);
  EXPECT_THAT(decided(facts), ElementsAre("a1 after long"));
  facts.jobs[1].admitted->since = kNow - 40;
  EXPECT_THAT(decided(facts), ElementsAre("a1 after wide"));
}

TEST(Victims, AreTheOthersBeforeTheOwn) {
  LittleCluster facts = borrowed(3);
  facts.add_running("low", "a", 1, {"n"}, -5);
  facts.add_waiting("a1", "a", 1, 1);
  EXPECT_THAT(decided(facts), ElementsAre("a1 after b3"));
}

// Smallest first until it suffices; then victims that turn out to be unnecessary are put back.
TEST(Victims, AreNoMoreThanIsNeeded) {
  LittleCluster facts = borrowed(0);
  facts.add_running("small", "b", 1, {"n"});
  facts.add_running("large", "b", 3, {"n"}).checkpoint = 1;
  facts.add_waiting("a1", "a", 3);
  EXPECT_THAT(decided(facts), ElementsAre("a1 after large"));
}

TEST(Victims, AreGangsAsAWhole) {
  LittleCluster facts;
  facts.add_node("n1", 2), facts.add_node("n2", 2);
  facts.add_queue("a", 1), facts.add_queue("b", 0);
  facts.add_running("gang", "b", 1, {"n1", "n1", "n2", "n2"});
  facts.add_waiting("a1", "a", 1);
  EXPECT_THAT(decided(facts), ElementsAre("a1 after gang"));
}

TEST(Victims, AreNobodyWhereRoomIsWhatLacks) {
  LittleCluster facts;
  facts.add_node("n1", 2), facts.add_node("n2", 2);
  facts.add_queue("a", 2), facts.add_queue("b", 2);
  facts.add_running("b1", "b", 1, {"n1"}), facts.add_running("b2", "b", 1, {"n2"});
  facts.add_waiting("a1", "a", 2);
  EXPECT_THAT(decided(facts), IsEmpty()) << "two are free, on two nodes, and both are funded";
}

TEST(Victims, AreNobodyWhereAllTogetherDoNotSuffice) {
  LittleCluster facts = borrowed(2);
  facts.add_running("own", "a", 2, {"n"});
  facts.add_waiting("a1", "a", 4);
  EXPECT_THAT(decided(facts), IsEmpty());
}

// --- Which must not be preempted (yet) ---

TEST(Victims, HaveRunForAsLongAsTheReclaimingQueueSays) {
  LittleCluster facts = borrowed();
  facts.queues[0].preemption.others_after = 100;
  facts.queues[1].preemption.others_after = 1'000'000;
  facts.jobs[3].admitted->since = kNow - 99;
  facts.add_waiting("a1", "a", 4);
  EXPECT_THAT(decided(facts), IsEmpty());
  FactsIndex index;
  fill(facts, index);
  Cycle cycle(index, PreemptionTerms{.now = kNow});
  cycle.run(1000);
  EXPECT_EQ(cycle.again(), kNow + 1);
  EXPECT_THAT(decided(facts, kNow + 1), ElementsAre("a1 after b4,b3,b2,b1"));
}

TEST(Victims, OfTheOwnQueueHaveTheirOwnTime) {
  LittleCluster facts;
  facts.add_node("n", 1);
  facts.add_queue("a", 1).preemption.own_after = 100;
  facts.add_running("low", "a", 1, {"n"}).admitted->since = kNow - 50;
  facts.add_waiting("high", "a", 1, 1);
  EXPECT_THAT(decided(facts), IsEmpty());
  EXPECT_THAT(decided(facts, kNow + 50), ElementsAre("high after low"));
}

// It is unknown whether it has been released.
TEST(Victims, AreNotInFlight) {
  LittleCluster facts = borrowed();
  JobFact& flies = facts.jobs[3];
  facts.ledger.push_back({.workload = flies.workload, .admission = *flies.admitted});
  flies.suspended = true, flies.admitted.reset(), facts.pods.pop_back();
  facts.ledger.back().admission.nodes = {"n"};
  facts.add_waiting("a1", "a", 1);
  EXPECT_THAT(decided(facts), ElementsAre("a1 after b3"));
}

TEST(Victims, AreAmongThoseWhoMayGo) {
  LittleCluster facts = borrowed();
  facts.add_waiting("a1", "a", 1);
  FactsIndex index;
  fill(facts, index);
  Cycle cycle(index, PreemptionTerms{.now = kNow, .may_go = [](const Workload& workload) {
                                       return *workload.name == "b2";
                                     }});
  cycle.run(1000);
  ASSERT_EQ(cycle.admissions().size(), 1u);
  const std::vector<Ahead>& ahead = cycle.admissions()[0].ahead;
  ASSERT_EQ(ahead.size(), 1u);
  EXPECT_EQ(*ahead[0].workload->name, "b2");
  EXPECT_TRUE(ahead[0].evicted);
}

// --- Which pool, whose turn ---

// The first pool needs a preemption; in the second, a workload leaves anyway.
TEST(Preemptors, AskInEachPoolWhoLeavesBeforeTheyDisplace) {
  LittleCluster facts = borrowed();
  facts.add_node("m", 1, "inference");
  for (QueueFact& queue : facts.queues)
    queue.quotas.push_back({.resource = kGpu, .pool = "inference", .nominal = 1});
  facts.add_running("i1", "b", 1, {"m"}).admitted->pool = "inference";
  facts.add_waiting("a1", "a", 1);
  EXPECT_THAT(decided(facts), ElementsAre("a1 after b4"));
  facts.stop("i1");
  EXPECT_THAT(decided(facts), ElementsAre("a1 after others"));
}

TEST(Preemptors, DisplaceInTheFirstPoolWhereThatHelps) {
  LittleCluster facts = borrowed();
  facts.add_node("m", 2, "inference");
  for (QueueFact& queue : facts.queues)
    queue.quotas.push_back({.resource = kGpu, .pool = "inference", .nominal = 2});
  facts.queues[1].quotas[1].nominal = 0;
  facts.add_running("i1", "b", 2, {"m"}).admitted->pool = "inference";
  facts.add_waiting("a1", "a", 2);
  EXPECT_THAT(decided(facts), ElementsAre("a1 after b4,b3"));
  for (std::size_t i = 0; i < 4; ++i) facts.jobs[i].admitted->queue = "a";
  EXPECT_THAT(decided(facts), ElementsAre("a1 after i1"));
}

TEST(Preemptors, OfAStrictQueueAreItsHead) {
  LittleCluster facts = borrowed();
  facts.queues[0].strict_fifo = true;
  facts.queues[0].quotas[0].nominal = 8;
  facts.add_waiting("first", "a", 5), facts.add_waiting("second", "a", 1);
  EXPECT_THAT(decided(facts), IsEmpty()) << "no node ever has room for the first";
  facts.jobs[4].requests = {{kGpu, 2}};
  EXPECT_THAT(decided(facts), ElementsAre("first after b4,b3", "second after b2"));
}

// "a" reclaims a gang of four for one GPU: workloads that failed before then have free capacity.
TEST(Preemptors, LeaveWhatIsTooMuchToThoseWhoFailedBefore) {
  LittleCluster facts;
  facts.add_node("n", 4);
  facts.add_queue("a", 1), facts.add_queue("b", 0), facts.add_queue("c", 3);
  facts.queues[2].preemption.others = Reclaims::kNever;
  facts.add_running("gang", "b", 1, {"n", "n", "n", "n"});
  facts.add_waiting("c1", "c", 2), facts.add_waiting("a1", "a", 1);
  EXPECT_THAT(decided(facts), ElementsAre("a1 after gang", "c1 after others"));
}

// --- Which workloads must be gone first ---

TEST(Ahead, AreThoseThatHoldItsQuotaOrStandOnItsNodes) {
  LittleCluster facts = borrowed(2);
  facts.add_node("far", 1, "inference");
  facts.add_queue("alone", 1).cohort = "alone";
  facts.queues[2].quotas[0].pool = "inference";
  facts.add_running("unrelated", "alone", 1, {"far"}).admitted->cohort = "alone";
  facts.jobs.back().admitted->pool = "inference";
  facts.stop("b1"), facts.stop("unrelated");
  facts.add_waiting("a1", "a", 4);
  FactsIndex index;
  fill(facts, index);
  Cycle cycle(index, PreemptionTerms{.now = kNow});
  cycle.run(1000);
  ASSERT_EQ(cycle.admissions().size(), 1u);
  const auto is = [](const char* name, bool evicted) {
    return AllOf(
        Field(&Ahead::workload,
              testing::Pointee(Field(&Workload::name, testing::Pointee(std::string(name))))),
        Field(&Ahead::evicted, evicted));
  };
  EXPECT_THAT(cycle.admissions()[0].ahead, ElementsAre(is("b2", true), is("b1", false)));
}

TEST(Ahead, TheLossIsToldInGpuSeconds) {
  LittleCluster facts = borrowed(0);
  facts.add_running("b1", "b", 4, {"n"}).checkpoint = 60'000'000;
  facts.add_waiting("a1", "a", 4);
  FactsIndex index;
  fill(facts, index);
  Cycle cycle(index, PreemptionTerms{.now = 90'000'000});
  cycle.run(1000);
  ASSERT_EQ(cycle.admissions().size(), 1u);
  EXPECT_EQ(cycle.admissions()[0].ahead.at(0).lost_gpu_seconds, 120);
}

}  // namespace
}  // namespace berth::queue::test
