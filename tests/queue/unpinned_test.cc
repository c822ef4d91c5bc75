// SPDX-License-Identifier: Apache-2.0
// Workloads that berth does not pin (rule 3): one node must have free capacity for all requests of
// a pod and accept the pod, as kube-scheduler will require.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/queue/cluster_facts.h"
#include "tests/queue/model.h"
#include "tests/queue/units.h"

namespace berth::queue::test {
namespace {

class Unpinned : public ::testing::Test {
 protected:
  // Two GPUs are free on n1, and eight cores on n2.
  Unpinned() {
    add_node("n1", 1, 2), add_node("n2", 8, 0);
    add_queue("a", 8);
  }
  void add_node(const std::string& name, std::int64_t cores, std::int64_t gpus) {
    facts.nodes.push_back({.name = name,
                           .pool = "training",
                           .offers = {{"cpu", 1000 * cores}, {kGpu, gpus}},
                           .gpu_weights = {{kGpu, kWholeGpu}}});
  }
  QueueFact& add_queue(const std::string& name, std::int64_t nominal) {
    return facts.queues.emplace_back(
        QueueFact{.name = name,
                  .cohort = "c",
                  .quotas = {{.resource = kGpu, .pool = "training", .nominal = nominal}},
                  .pins = false,
                  .preemption = {.own = true, .others = Reclaims::kAny}});
  }
  JobFact& add_job(std::int64_t cores, std::int64_t gpus) {
    return facts.jobs.emplace_back(JobFact{.workload = "Job/ns/a1",
                                           .uid = "uid-a1",
                                           .queue = "a",
                                           .requests = {{"cpu", 1000 * cores}, {kGpu, gpus}}});
  }
  Outcome outcome() {
    constexpr std::int64_t kLater = 1000;
    FactsIndex index;
    fill(facts, index);
    const Outcome engine = decide(index, 1000, kLater);
    EXPECT_EQ(print(engine), print(decide_by_the_book(facts, 1000, kLater))) << print(facts);
    return engine;
  }
  // Empty: it is admitted.
  std::string why() {
    const Outcome all = outcome();
    const auto waits = all.waiting.find("Job/ns/a1");
    return waits == all.waiting.end() ? "" : waits->second.substr(0, waits->second.find(' '));
  }
  ClusterFacts facts;
};

TEST_F(Unpinned, NeedsAllThatAPodAsksOnOneNode) {
  add_job(4, 2);
  EXPECT_EQ(why(), "Unplaceable");
  facts.nodes[1].offers = {{"cpu", 8000}, {kGpu, 2}};
  EXPECT_EQ(why(), "");
}

TEST_F(Unpinned, NeedsANodeThatItsSelectorAndItsTolerationsAllow) {
  add_job(1, 2).rules = "selects";
  facts.refusals.insert({"selects", "n1"});
  EXPECT_EQ(why(), "Unplaceable") << "n2 has no GPU";
  facts.refusals.insert({"selects", "n2"});
  EXPECT_EQ(why(), "NodesNotSelected");
  facts.refusals.clear();
  EXPECT_EQ(why(), "");
}

TEST_F(Unpinned, IsTheSameForWhatIsNotModelled) {
  facts.queues[0].pins = true;
  add_job(4, 2).modelled = false;
  EXPECT_EQ(why(), "Unplaceable");
}

TEST_F(Unpinned, DisplacesWorkWhereOnePodFits) {
  add_node("n3", 8, 2);
  facts.queues[0].quotas[0].nominal = 4;
  add_queue("b", 0);
  JobFact runs{.workload = "Job/ns/b1", .uid = "uid-b1", .queue = "b", .requests = {{kGpu, 2}}};
  runs.suspended = false;
  runs.admitted = AdmissionFact{.uid = "uid-b1",
                                .queue = "b",
                                .cohort = "c",
                                .pool = "training",
                                .amounts = {{kGpu, 2}},
                                .since = 1};
  facts.jobs.push_back(runs);
  facts.pods.push_back({.uid = "b1-0",
                        .workload = "Job/ns/b1",
                        .requests = {{kGpu, 2}},
                        .state = PodState::kBound,
                        .node = "n3"});
  add_job(4, 2);
  const Outcome all = outcome();
  ASSERT_EQ(all.admitted.size(), 1u);
  EXPECT_THAT(all.admitted[0], ::testing::EndsWith(" after Job/ns/b1"));
}

}  // namespace
}  // namespace berth::queue::test
