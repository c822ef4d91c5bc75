// SPDX-License-Identifier: Apache-2.0
// Elastic pools: which workloads are admitted for an autoscaler to see, how many, and which wait.
// The engine and the model must give equal texts.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controller/queue/cycle/admission_fact.h"
#include "controller/queue/cycle/cycle.h"
#include "controller/queue/cycle/words.h"
#include "tests/queue/model.h"
#include "tests/queue/units.h"

namespace berth::queue::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::size_t kWindow = 1000;

class GrowthTest : public ::testing::Test {
 protected:
  GrowthTest() {
    facts_.elastic.max_nodes = {{"training", 3}};
    add_queue("vision");
  }
  void add_queue(const std::string& name, std::vector<std::string> pools = {"training"}) {
    QueueFact queue{.name = name};
    for (const std::string& pool : pools)
      queue.quotas.push_back({.resource = kGpu, .pool = pool, .nominal = 100});
    facts_.queues.push_back(queue);
  }
  void add_node(const std::string& name, std::int64_t gpus, const std::string& pool = "training") {
    facts_.nodes.push_back({.name = name, .pool = pool, .offers = {{kGpu, gpus}}});
  }
  JobFact& add_job(const std::string& name, std::int64_t gpus, std::int64_t pods = 1) {
    const auto created = static_cast<std::int64_t>(facts_.jobs.size());
    return facts_.jobs.emplace_back(JobFact{.workload = name,
                                            .uid = "uid-" + name,
                                            .queue = "vision",
                                            .created = created,
                                            .requests = {{kGpu, gpus}},
                                            .parallelism = pods});
  }
  // The admitted workloads, with pool and node.
  std::vector<std::string> decided() {
    FactsIndex index;
    fill(facts_, index);
    const Outcome outcome = decide(index, kWindow);
    EXPECT_EQ(print(outcome), print(decide_by_the_book(facts_, kWindow)));
    std::vector<std::string> lines;
    for (const std::string& line : outcome.admitted) {
      const std::size_t pool = line.find(' ') + 1, on = line.find(" on ");
      lines.push_back(line.substr(0, line.find(' ', pool)) +
                      (on == std::string::npos ? "" : line.substr(on)));
    }
    return lines;
  }
  // Decides and releases the workloads; their pods are on no node yet.
  std::vector<std::string> let_go() {
    std::vector<std::string> lines = decided();
    FactsIndex index;
    fill(facts_, index);
    Cycle cycle(index);
    cycle.run(kWindow);
    for (const Admission& admission : cycle.admissions())
      for (JobFact& job : facts_.jobs) {
        if (job.workload != *admission.workload->name) continue;
        job.admitted = admission_fact(admission, index);
        job.suspended = false;
      }
    return lines;
  }
  std::string why(const std::string& workload) {
    FactsIndex index;
    fill(facts_, index);
    Cycle cycle(index);
    cycle.run(kWindow);
    const Verdict verdict = cycle.why(*index.find(workload));
    return fmt::format("{}: {}", to_string(verdict.reason), describe(verdict, index.catalog()));
  }

  ClusterFacts facts_;
};

TEST_F(GrowthTest, WhatHasRoomIsPinnedAndTheRestGoesAsFarAsNodesMayCome) {
  add_node("n1", 8);
  for (const char* name : {"a", "b", "c", "d", "e", "f", "g"}) add_job(name, 4);
  EXPECT_THAT(decided(), ElementsAre("a training on n1", "b training on n1",
                                     "c training on nodes to come", "d training on nodes to come",
                                     "e training on nodes to come", "f training on nodes to come"))
      << "two nodes more, of 8 GPUs each";
  EXPECT_EQ(why("g"),
            "WaitingForRoom: needs 4 nvidia.com/gpu, 0 of 8 free on the nodes of pool training; "
            "nodes to come that nobody waits for: 0");
}

TEST_F(GrowthTest, WhoWaitsForANodeHoldsItUntilItIsThere) {
  add_node("n1", 8);
  for (const char* name : {"a", "b", "c", "d"}) add_job(name, 8);
  EXPECT_THAT(let_go(), ElementsAre("a training on n1", "b training on nodes to come",
                                    "c training on nodes to come"));
  EXPECT_THAT(let_go(), IsEmpty());
  add_node("n2", 8);
  EXPECT_THAT(let_go(), IsEmpty()) << "the node is for one of those that were let go";
  // Their pods are bound, the third node has arrived, and the pool has its maximum.
  add_node("n3", 8);
  for (const auto& [job, node] : {std::pair("b", "n2"), {"c", "n3"}})
    facts_.pods.push_back({.uid = fmt::format("pod-{}", job),
                           .workload = job,
                           .requests = {{kGpu, 8}},
                           .state = PodState::kBound,
                           .node = node});
  EXPECT_THAT(let_go(), IsEmpty());
  facts_.elastic.max_nodes = {{"training", 4}};
  EXPECT_THAT(let_go(), ElementsAre("d training on nodes to come"));
}

TEST_F(GrowthTest, WithoutItEverythingStaysGated) {
  facts_.elastic = {};
  add_job("a", 1);
  EXPECT_THAT(decided(), IsEmpty());
  EXPECT_EQ(why("a"),
            "ResourceNotOffered: needs 1 nvidia.com/gpu, the nodes of pool training offer 0");
}

TEST_F(GrowthTest, OfAPoolWithoutNodesOneGoesFirstWhateverItsSize) {
  add_job("gang", 1, 16);
  add_job("next", 1);
  EXPECT_THAT(let_go(), ElementsAre("gang training on nodes to come"));
  EXPECT_EQ(why("next"),
            "ResourceNotOffered: needs 1 nvidia.com/gpu, the nodes of pool training offer 0; "
            "nodes to come that nobody waits for: 0");
  // Sixteen pods need two of these nodes, and there is room for a third.
  add_node("n1", 8);
  EXPECT_THAT(decided(), IsEmpty()) << "its node is there, and not yet two of three to come";
  facts_.elastic.max_nodes = {{"training", 4}};
  EXPECT_THAT(decided(), ElementsAre("next training on nodes to come"));
}

TEST_F(GrowthTest, OfAPoolWithoutNodesAsManyPodsGoAsNodesMayCome) {
  for (const char* name : {"a", "b", "c", "d"}) add_job(name, 1);
  EXPECT_THAT(decided(), ElementsAre("a training on nodes to come", "b training on nodes to come",
                                     "c training on nodes to come"));
}

TEST_F(GrowthTest, NodesOutOfServiceCountAndShowWhatThoseToComeAreLike) {
  add_node("n1", 8);
  facts_.nodes.back().in_service = false;
  add_job("whole", 8), add_job("halves", 4, 2), add_job("more", 1);
  EXPECT_THAT(decided(),
              ElementsAre("whole training on nodes to come", "halves training on nodes to come"));
}

TEST_F(GrowthTest, APodThatNoNodeOfThePoolWouldHoldStays) {
  add_node("n1", 8), add_node("n2", 4);
  facts_.refusals = {{"amd", "n1"}, {"amd", "n2"}, {"small", "n1"}};
  add_job("huge", 16);
  add_job("foreign", 1).rules = "amd";
  EXPECT_THAT(decided(), IsEmpty());
  EXPECT_THAT(why("huge"), HasSubstr("nodes to come that nobody waits for: 1"));
  EXPECT_THAT(why("foreign"), HasSubstr("NodesNotSelected"));
  // Pods that may run only where four fit need a node for each four pods.
  add_job("pair", 4, 3).rules = "small";
  EXPECT_THAT(decided(), IsEmpty());
  facts_.elastic.max_nodes = {{"training", 5}};
  EXPECT_THAT(decided(), ElementsAre("pair training on nodes to come"));
}

// A released pod has lost the rules that it had behind its gate, so it has another shape.
TEST_F(GrowthTest, PodsThatAskTheSameShareNodesWhateverElseTheySay) {
  add_node("n1", 4), add_node("n2", 8);
  add_job("fills", 4), add_job("whole", 8);
  ASSERT_THAT(let_go(), ElementsAre("fills training on n1", "whole training on n2"));
  add_job("a", 4).rules = "says something";
  EXPECT_THAT(let_go(), ElementsAre("a training on nodes to come"));
  add_job("b", 4), add_job("c", 4);
  EXPECT_THAT(let_go(), ElementsAre("b training on nodes to come")) << "beside it, and no more";
}

TEST_F(GrowthTest, ARequiredDomainWaitsForNodesThatAreThere) {
  facts_.topology.levels = {"rack"};
  add_node("n1", 8);
  add_job("ring", 8, 2).topology = {.level = "rack", .required = true};
  EXPECT_THAT(decided(), IsEmpty());
  EXPECT_THAT(why("ring"), Not(HasSubstr("nodes to come")));
  facts_.jobs.back().topology.required = false;
  EXPECT_THAT(decided(), ElementsAre("ring training on nodes to come"));
}

TEST_F(GrowthTest, RoomInALaterPoolGoesBeforeNodesToCome) {
  facts_.queues.clear();
  add_queue("vision", {"training", "spare"});
  add_node("n1", 8, "spare");
  add_job("a", 8), add_job("b", 8);
  EXPECT_THAT(decided(), ElementsAre("a spare on n1", "b training on nodes to come"));
}

TEST_F(GrowthTest, WhoWaitsForNodesTakesNothingOfOtherPools) {
  add_node("n1", 8, "spare");
  add_job("a", 8, 3);
  ASSERT_THAT(let_go(), ElementsAre("a training on nodes to come"));
  facts_.queues.clear();
  add_queue("vision", {"spare", "*"});
  add_job("b", 6), add_job("c", 2), add_job("d", 1);
  EXPECT_THAT(decided(), ElementsAre("b spare on n1", "c spare on n1"));
}

TEST_F(GrowthTest, AQuotaOfAnyPoolLetsNothingGoToNodesToCome) {
  facts_.queues.clear();
  add_queue("vision", {"*"});
  add_job("a", 1);
  EXPECT_THAT(decided(), IsEmpty());
}

}  // namespace
}  // namespace berth::queue::test
