// SPDX-License-Identifier: Apache-2.0
// The worked examples of docs/queue-rules.md, and known errors of other queueing systems, by name.
// The engine and the model must give equal texts.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controller/queue/cycle/cycle.h"
#include "controller/queue/cycle/words.h"
#include "tests/queue/model.h"
#include "tests/queue/units.h"

namespace berth::queue::test {
namespace {

using testing::ElementsAre;

NodeFact gpus(const std::string& name, std::int64_t count, const std::string& pool = "training") {
  return {
      .name = name, .pool = pool, .offers = {{kGpu, count}}, .gpu_weights = {{kGpu, kWholeGpu}}};
}

QueueFact queue(const std::string& name, std::int64_t nominal, const std::string& cohort = "") {
  return {.name = name,
          .cohort = cohort,
          .quotas = {{.resource = kGpu, .pool = "training", .nominal = nominal}}};
}

JobFact job(const std::string& name, const std::string& queue, std::int64_t asks,
            std::int64_t created, std::int64_t pods = 1) {
  return {.workload = name,
          .uid = "uid-" + name,
          .queue = queue,
          .created = created,
          .requests = {{kGpu, asks}},
          .parallelism = pods};
}

// The names in the order of admission.
std::vector<std::string> admitted(const ClusterFacts& facts) {
  FactsIndex index;
  fill(facts, index);
  const Outcome outcome = decide(index, 1'000'000);
  EXPECT_EQ(print(outcome), print(decide_by_the_book(facts, 1'000'000)));
  std::vector<std::string> names;
  for (const std::string& line : outcome.admitted) names.push_back(line.substr(0, line.find(' ')));
  return names;
}

std::string why(const ClusterFacts& facts, const std::string& workload) {
  FactsIndex index;
  fill(facts, index);
  Cycle cycle(index);
  cycle.run(1'000'000);
  const Verdict verdict = cycle.why(*index.find(workload));
  return fmt::format("{}: {}", to_string(verdict.reason), describe(verdict, index.catalog()));
}

ClusterFacts three_teams() {
  ClusterFacts facts;
  for (int i = 0; i < 4; ++i) facts.nodes.push_back(gpus(fmt::format("n{}", i), 8));
  facts.queues = {queue("vision", 16, "research"), queue("nlp", 8, "research"),
                  queue("speech", 8, "research")};
  facts.jobs = {job("v1", "vision", 8, 1), job("v2", "vision", 8, 2), job("n1", "nlp", 4, 3),
                job("n2", "nlp", 4, 4),    job("n3", "nlp", 4, 5),    job("s1", "speech", 8, 6)};
  return facts;
}

TEST(ThreeTeams, GetTheirOwnBeforeAnybodyBorrows) {
  const ClusterFacts facts = three_teams();
  EXPECT_THAT(admitted(facts), ElementsAre("v1", "v2", "n1", "n2", "s1"));
  EXPECT_EQ(why(facts, "n3"),
            "WaitingForQuota: needs 4 nvidia.com/gpu in pool training, 0 free with a nominal "
            "quota of 8");
}

TEST(ThreeTeams, LendWhatTheyDoNotUseWithinTheirLimit) {
  ClusterFacts facts = three_teams();
  facts.jobs.pop_back();
  EXPECT_THAT(admitted(facts), ElementsAre("v1", "v2", "n1", "n2", "n3"));
  facts.queues[2].quotas[0].lending_limit = 6;
  EXPECT_THAT(admitted(facts), ElementsAre("v1", "v2", "n1", "n2", "n3"));
  facts.queues[2].quotas[0].lending_limit = 2;
  EXPECT_THAT(admitted(facts), ElementsAre("v1", "v2", "n1", "n2"));
  EXPECT_EQ(why(facts, "n3"),
            "WaitingForQuota: needs 4 nvidia.com/gpu in pool training, 2 free with a nominal "
            "quota of 8");
}

TEST(Cohort, WhatAQueueKeepsIsItsOwnThoughOthersAreOver) {
  ClusterFacts facts;
  facts.nodes = {gpus("n", 8)};
  facts.queues = {queue("lab", 4, "c")};
  facts.queues[0].quotas[0].lending_limit = 0;
  JobFact running = job("old", "archive", 4, 0);
  running.suspended = false;
  running.admitted = {
      .queue = "archive", .cohort = "c", .pool = "training", .amounts = {{kGpu, 4}}};
  facts.jobs = {running, job("new", "lab", 4, 1)};
  EXPECT_THAT(admitted(facts), ElementsAre("new"));
}

TEST(Unlike, KueueAHeadThatDoesNotFitHoldsNothing) {
  ClusterFacts facts;
  facts.nodes = {gpus("n", 8)};
  facts.queues = {queue("a", 4, "c"), queue("b", 4, "c")};
  facts.queues[0].strict_fifo = true;
  JobFact running = job("old", "b", 6, 0);
  running.suspended = false;
  running.admitted = {.queue = "b", .cohort = "c", .pool = "training", .amounts = {{kGpu, 6}}};
  facts.jobs = {running, job("large", "a", 4, 1), job("small", "b", 1, 2)};
  EXPECT_THAT(admitted(facts), ElementsAre("small"));
}

TEST(ClassGpu, CountsEquivalentsOverAllGpus) {
  ClusterFacts facts;
  NodeFact node = gpus("n", 4);
  node.offers.emplace_back("nvidia.com/mig-1g.10gb", 28);
  node.gpu_weights.emplace_back("nvidia.com/mig-1g.10gb", kWholeGpu / 8);
  facts.nodes = {node};
  facts.queues = {queue("lab", 2 * kWholeGpu)};
  facts.queues[0].quotas[0].resource = "gpu";
  facts.jobs = {job("whole", "lab", 1, 1), job("slices", "lab", 9, 2), job("fits", "lab", 8, 3)};
  facts.jobs[1].requests = {{"nvidia.com/mig-1g.10gb", 9}};
  facts.jobs[2].requests = {{"nvidia.com/mig-1g.10gb", 8}};
  EXPECT_THAT(admitted(facts), ElementsAre("whole", "fits"));
  EXPECT_EQ(why(facts, "slices"),
            "WaitingForQuota: needs 1.125 gpu in pool training, 1 free with a nominal quota of 2");
}

ClusterFacts blocked_head(bool strict, std::int64_t nominal) {
  ClusterFacts facts;
  for (int i = 0; i < 4; ++i) facts.nodes.push_back(gpus(fmt::format("n{}", i), 8));
  facts.queues = {queue("q", nominal)};
  facts.queues[0].strict_fifo = strict;
  for (int i = 0; i < 10'000; ++i)
    facts.jobs.push_back(job(fmt::format("big-{:05}", i), "q", 8, i, 8));
  facts.jobs.push_back(job("small", "q", 1, 20'000));
  return facts;
}

std::vector<std::string> engine_admits(const ClusterFacts& facts) {
  FactsIndex index;
  fill(facts, index);
  Cycle cycle(index);
  cycle.run(512);
  std::vector<std::string> names;
  for (const Admission& admission : cycle.admissions()) names.push_back(*admission.workload->name);
  return names;
}

TEST(BlockedHead, CostsNobodyInABestEffortQueue) {
  EXPECT_THAT(engine_admits(blocked_head(false, 64)), ElementsAre("small"));
  EXPECT_EQ(why(blocked_head(false, 64), "big-09999"),
            "ResourceNotOffered: needs 64 nvidia.com/gpu, the nodes of pool training offer 32");
}

// All ten thousand have different shapes, so each must be tried.
TEST(BlockedHead, CostsNobodyThoughAllDiffer) {
  ClusterFacts facts = blocked_head(false, 1'000'000);
  for (std::size_t i = 0; i + 1 < facts.jobs.size(); ++i)
    facts.jobs[i].requests = {{kGpu, 33 + static_cast<std::int64_t>(i)}};
  EXPECT_THAT(engine_admits(facts), ElementsAre("small"));
}

TEST(BlockedHead, HoldsAStrictQueueUnlessItCouldNeverRun) {
  EXPECT_TRUE(engine_admits(blocked_head(true, 64)).empty());
  EXPECT_EQ(why(blocked_head(true, 64), "small"),
            "BehindInQueue: big-00000 is before it in a StrictFIFO queue");
  EXPECT_THAT(engine_admits(blocked_head(true, 32)), ElementsAre("small"));
  EXPECT_EQ(why(blocked_head(true, 32), "big-00000"),
            "ExceedsMaximum: needs 64 nvidia.com/gpu in pool training; the queue can never hold "
            "more than 32");
}

// A head that waits for free capacity does not keep other queues from borrowing.
TEST(BlockedHead, OfAStrictQueueLeavesOtherQueuesTheirLoans) {
  ClusterFacts facts;
  facts.nodes = {gpus("n", 8)};
  facts.queues = {queue("strict", 8, "c"), queue("other", 0, "c")};
  facts.queues[0].strict_fifo = true;
  facts.queues.push_back(queue("third", 8, "c"));
  facts.jobs = {job("head", "strict", 16, 1), job("loan", "other", 1, 2)};
  EXPECT_THAT(admitted(facts), ElementsAre("loan"));
}

TEST(Weights, DivideWhatIsLent) {
  ClusterFacts facts;
  facts.nodes = {gpus("n", 6)};
  facts.queues = {queue("a", 0, "c"), queue("b", 0, "c"), queue("c", 6, "c")};
  facts.queues[0].weight_thousandths = 2000;
  for (int i = 0; i < 6; ++i) {
    facts.jobs.push_back(job(fmt::format("b{}", i), "b", 1, i));
    facts.jobs.push_back(job(fmt::format("a{}", i), "a", 1, 10 + i));
  }
  EXPECT_THAT(admitted(facts), ElementsAre("a0", "b0", "a1", "a2", "b1", "a3"));
}

TEST(Weights, OfNothingBorrowLast) {
  ClusterFacts facts;
  facts.nodes = {gpus("n", 3)};
  facts.queues = {queue("zero", 1, "c"), queue("b", 0, "c"), queue("c", 2, "c")};
  facts.queues[0].weight_thousandths = 0;
  for (int i = 0; i < 3; ++i) {
    facts.jobs.push_back(job(fmt::format("z{}", i), "zero", 1, i));
    facts.jobs.push_back(job(fmt::format("b{}", i), "b", 1, 10 + i));
  }
  EXPECT_THAT(admitted(facts), ElementsAre("z0", "b0", "b1")) << "but its own comes first";
}

TEST(Pools, BorrowInTheFirstBeforeTheSecond) {
  ClusterFacts facts;
  facts.nodes = {gpus("n1", 4, "training"), gpus("n2", 4, "spot")};
  facts.queues = {queue("q", 0, "c"), queue("lender", 4, "c")};
  facts.queues[0].quotas.push_back({.resource = kGpu, .pool = "spot", .nominal = 4});
  facts.jobs = {job("first", "q", 4, 1), job("second", "q", 4, 2)};
  FactsIndex index;
  fill(facts, index);
  EXPECT_THAT(decide(index, 10).admitted,
              ElementsAre("first training nvidia.com/gpu/training=4 on n1",
                          "second spot nvidia.com/gpu/spot=4 on n2"));
}

TEST(Pools, ThatAreAnyAndOneShareTheirRoom) {
  ClusterFacts facts;
  facts.nodes = {gpus("n1", 4, "training"), gpus("n2", 4, "spot")};
  facts.queues = {queue("any", 8), queue("one", 8)};
  facts.queues[0].quotas[0].pool = "*";
  facts.queues[0].pins = facts.queues[1].pins = false;
  facts.jobs = {job("a", "any", 3, 1, 2), job("b", "one", 4, 2)};
  EXPECT_THAT(admitted(facts), ElementsAre("a"));
  EXPECT_EQ(why(facts, "b"),
            "WaitingForRoom: needs 4 nvidia.com/gpu, 2 of 4 free on the nodes of pool training");
}

TEST(Room, IsNoneWhereNoNodeHasEnoughForAPod) {
  ClusterFacts facts;
  for (int i = 0; i < 3; ++i) facts.nodes.push_back(gpus(fmt::format("n{}", i), 3));
  facts.queues = {queue("q", 16)};
  facts.jobs = {job("wide", "q", 4, 1), job("narrow", "q", 3, 2)};
  EXPECT_THAT(admitted(facts), ElementsAre("narrow"));
  EXPECT_EQ(why(facts, "wide"),
            "Fragmented: a pod needs 4 nvidia.com/gpu on one node; 9 are free in pool training, at "
            "most 3 on one node");
}

TEST(Words, RoomIsInTheUnitsThatPeopleWrite) {
  constexpr std::int64_t kMi = std::int64_t{1} << 20;
  const auto needs = [](const char* resource, std::int64_t amount) {
    ClusterFacts facts;
    facts.nodes = {gpus("n", 8)};
    facts.queues = {queue("q", 8)};
    facts.jobs = {job("j", "q", 1, 1)};
    facts.jobs[0].requests = {{resource, amount}, {kGpu, 1}};
    const std::string said = why(facts, "j");
    const std::size_t at = said.find("needs ") + 6;
    return said.substr(at, said.find(',') - at);
  };
  EXPECT_EQ(needs("cpu", 1500), "1.5 cpu");
  EXPECT_EQ(needs("cpu", 8000), "8 cpu");
  EXPECT_EQ(needs("memory", 32 * 1024 * kMi), "32Gi memory");
  EXPECT_EQ(needs("memory", 1536 * kMi), "1536Mi memory");
  EXPECT_EQ(needs("memory", 1000), "1000 memory");
}

TEST(NoQuota, NamesTheResource) {
  ClusterFacts facts;
  facts.nodes = {gpus("n", 8)};
  facts.queues = {queue("q", 8)};
  facts.jobs = {job("mig", "q", 1, 1), job("network", "q", 1, 2)};
  facts.jobs[0].requests = {{"nvidia.com/mig-1g.10gb", 1}};
  facts.jobs[1].requests = {{"cpu", 4000}, {kGpu, 1}};
  EXPECT_EQ(why(facts, "mig"),
            "NoQuota: no quota of the queue covers nvidia.com/mig-1g.10gb in pool training");
  EXPECT_EQ(why(facts, "network"),
            "ResourceNotOffered: needs 4 cpu, the nodes of pool training "
            "offer 0");
}

PodFact member(int i, std::int64_t size) {
  return {.uid = fmt::format("p{}", i),
          .workload = "PodGroup/ns/g",
          .queue = "q",
          .created = i,
          .group_size = size,
          .requests = {{kGpu, 1}}};
}

// n1 and n2 have equally many free GPUs, and n3 has the fewest.
TEST(Numa, OfEqualNodesThoseOfOneNumaNodeAreForPodsOfSeveralGpus) {
  const auto places = [](std::int64_t asks, std::int64_t pods = 1) {
    ClusterFacts facts;
    facts.nodes = {gpus("n1", 4), gpus("n2", 4), gpus("n3", 3)};
    facts.nodes[1].one_numa_node = true;
    facts.queues = {queue("q", 16)};
    facts.jobs = {job("train", "q", asks, 1, pods)};
    FactsIndex index;
    fill(facts, index);
    const Outcome outcome = decide(index, 1'000'000);
    EXPECT_EQ(print(outcome), print(decide_by_the_book(facts, 1'000'000)));
    const std::string& line = outcome.admitted.at(0);
    return line.substr(line.rfind(" on ") + 4);
  };
  EXPECT_EQ(places(4), "n2");
  EXPECT_EQ(places(2), "n3") << "what is nearly full is filled first as ever";
  EXPECT_EQ(places(1), "n3");
  EXPECT_EQ(places(1, 4), "n1") << "four pods of one GPU have nothing to split";
  EXPECT_EQ(places(2, 2), "n2");
}

TEST(Gang, IsAdmittedWholeOrNotAtAll) {
  ClusterFacts facts;
  facts.nodes = {gpus("n", 8)};
  facts.queues = {queue("q", 8)};
  facts.pods = {member(0, 3), member(1, 3)};
  EXPECT_EQ(why(facts, "PodGroup/ns/g"), "WaitingForGang: 2 of 3 pods exist");
  facts.pods.push_back(member(2, 3));
  EXPECT_THAT(admitted(facts), ElementsAre("PodGroup/ns/g"));
  facts.pods[1].group_size = 2;
  EXPECT_EQ(why(facts, "PodGroup/ns/g"),
            "GangSizesDisagree: the pods of the group state different sizes; give all the same");
}

// A mistyped parallelism is too much, and must not overflow to a small number.
TEST(Gang, OfAbsurdSizeExceedsTheMaximum) {
  ClusterFacts facts;
  facts.nodes = {gpus("n", 8)};
  facts.queues = {queue("q", 8 * kWholeGpu)};
  facts.queues[0].quotas[0].resource = "gpu";
  facts.jobs = {job("all", "q", 1'000'000'000'000, 1, 2'147'483'647)};
  FactsIndex index;
  fill(facts, index);
  Cycle cycle(index);
  cycle.run(10);
  EXPECT_TRUE(cycle.admissions().empty());
  EXPECT_EQ(cycle.why(*index.find("all")).reason, Reason::kExceedsMaximum);
}

TEST(Usage, OfAPartIsRoundedUpAndGoesWhenItIsGone) {
  ClusterFacts facts;
  facts.nodes = {gpus("n", 8)};
  facts.queues = {queue("q", 4)};
  JobFact running = job("run", "q", 1, 0, 4);
  running.suspended = false;
  running.completions = 4;
  running.admitted = {.queue = "q", .pool = "training", .pods = 4, .amounts = {{kGpu, 4}}};
  facts.jobs = {running, job("next", "q", 2, 1)};
  EXPECT_TRUE(admitted(facts).empty());
  facts.jobs[0].succeeded = 2;
  EXPECT_THAT(admitted(facts), ElementsAre("next")) << "what remains of a Job holds what it needs";
}

}  // namespace
}  // namespace berth::queue::test
