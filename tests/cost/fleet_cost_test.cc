// SPDX-License-Identifier: Apache-2.0
// Which owners the cost of a node is charged to, to the millionth, also for very small holders.
#include "controller/cost/fleet_cost.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apis/base/names.h"
#include "controller/cost/node_use.h"
#include "tests/observe/measured.h"

namespace berth::test {
namespace {

using cost::Spending;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Key;
using ::testing::SizeIs;

class FleetCost : public ::testing::Test {
 protected:
  // Adds a node with these GPUs, and a price of its own.
  void have(const NodeBuilder& node, const std::string& per_hour) {
    world_.cluster.upsert<Node>(node, world_.now);
    GPUClusterPolicy policy = world_.policy();
    policy.spec.prices = {{.product = "NVIDIA-A100-SXM4-80GB", .per_node_hour = per_hour}};
    world_.cluster.upsert(std::move(policy), world_.now);
  }
  cost::Spendings hourly() const {
    cost::SpendingsByCurrency all = cost::hourly_cost(world_.snapshot(), world_.policy());
    EXPECT_THAT(all, ElementsAre(Key("USD")));
    return all["USD"];
  }
  cost::NodeUse use() const {
    return cost::use_of(world_.snapshot(), *world_.cluster.nodes().find("n1"));
  }
  std::string price_of(const std::string& name) const {
    return cost::monthly_price(world_.snapshot(), *world_.cluster.pods().find("team-a", name));
  }
  Measured world_;
};

TEST_F(FleetCost, WhatRoundingLeavesIsPaidByAPartThatThereIs) {
  have(node("n1").a100_80(3), "0.00001");
  for (const char* name : {"a", "b", "c"}) world_.run(pod(name).gpu(1).on("n1").in(name));
  const cost::Spendings sums = hourly();
  EXPECT_EQ(sums.pools.at("all"), Spending{.unmeasured = 10}) << "nothing is free, lost or cut off";
  std::vector<cost::Micros> parts;
  for (const auto& [name, spending] : sums.namespaces) parts.push_back(spending.total());
  EXPECT_THAT(parts, ::testing::UnorderedElementsAre(3, 3, 4));
}

TEST_F(FleetCost, WhoeverHoldsNothingIsNotNamedAndHasNoPrice) {
  have(node("n1").a100_80(1), "3");
  world_.run(pod("a").gpu(1).on("n1").in("team-a"));
  world_.run(pod("b").gpu(1).on("n1").in("team-a").owner("Job", "late"));
  world_.run(pod("odd").requests("nvidia.com/mig-9g.99gb", 1).on("n1").in("team-b"));
  world_.run(pod("cpu").on("n1").in("team-c"));
  ASSERT_THAT(use().held, SizeIs(1)) << "the node has one GPU";
  const std::string holder = use().held[0].pod->meta.name;
  for (const char* name : {"a", "b"})
    EXPECT_EQ(price_of(name), name == holder ? "2190 USD" : "") << name;
  EXPECT_THAT(hourly().namespaces, ElementsAre(Key("team-a")));
  EXPECT_THAT(hourly().owners, SizeIs(1));
}

TEST_F(FleetCost, OfWhatHasNoPriceThePodsHaveNone) {
  have(node("n1").a100_80(4), "3");
  world_.run(pod("p").gpu(2).on("n1"));
  world_.run(pod("waits").gpu(2));
  EXPECT_EQ(price_of("p"), "1095 USD") << "two of four";
  EXPECT_EQ(price_of("waits"), "");
  have(node("n1").a100_80(4), "much");
  EXPECT_EQ(price_of("p"), "");
  have(node("n1").a100_80(4), "3");
  world_.cluster.erase<GPUClusterPolicy>("", limits::kPolicyName);
  EXPECT_EQ(price_of("p"), "");
}

TEST_F(FleetCost, APodIsItsQueuesAndItsTopmostOwners) {
  have(node("n1").a100_80(4), "4");
  world_.run(pod("queued").gpu(1).on("n1").label(names::kQueueLabel, "lab").job("train"));
  world_.run(pod("other").gpu(2).on("n1"));
  EXPECT_EQ(hourly().queues.at("lab").total(), 1'000'000);
  EXPECT_EQ(hourly().queues.at("").total(), 2'000'000);
  EXPECT_EQ(hourly().owners.at("team-a/Job/train").total(), 1'000'000);
  EXPECT_EQ(hourly().pools.at("all").free, 1'000'000);

  EXPECT_EQ(cost::owner_of(pod("bare").unmanaged()), "Pod/bare");
  const auto of_set = [](const char* set, const char* hash) {
    return cost::owner_of(pod("p").owner("ReplicaSet", set).label("pod-template-hash", hash));
  };
  EXPECT_EQ(of_set("llama-5d9f", "5d9f"), "Deployment/llama");
  EXPECT_EQ(of_set("llama-5d9f", "77aa"), "ReplicaSet/llama-5d9f") << "no Deployment's";
  EXPECT_EQ(cost::owner_of(pod("p")), "ReplicaSet/rs");
  EXPECT_EQ(
      cost::owner_of(pod("p").owner("StatefulSet", "db-5d9f").label("pod-template-hash", "5d9f")),
      "StatefulSet/db-5d9f");
}

TEST_F(FleetCost, ANodesGpusAreHeldFreeLostOrCutOff) {
  have(node("n1").a100_80(4), "4");
  world_.run(pod("p").gpu(1).on("n1"));
  EXPECT_EQ(use().whole, 4 * kWholeGpu);
  EXPECT_EQ(use().held.at(0).unmeasured, kWholeGpu);
  EXPECT_EQ(use().free, 3 * kWholeGpu);
  EXPECT_EQ(use().fragments, 0);
  have(node("n1").a100_80(4).allocatable("nvidia.com/gpu", 3), "4");
  EXPECT_EQ(use().free, 2 * kWholeGpu);
  EXPECT_EQ(use().fragments, kWholeGpu) << "no resource offers the fourth";
  have(node("n1").a100_80(4).allocatable("nvidia.com/gpu", 0), "4");
  EXPECT_EQ(use().free, 0);
  EXPECT_EQ(use().fragments, 3 * kWholeGpu);
  have(node("n1").a100_80(4).cordoned(), "4");
  EXPECT_EQ(use().lost, 3 * kWholeGpu);
  EXPECT_EQ(use().free + use().fragments, 0);
  EXPECT_THAT(use().held, SizeIs(1)) << "what runs goes on";
  have(NodeBuilder("n1"), "4");
  EXPECT_EQ(use().whole, 0);
  EXPECT_THAT(use().held, IsEmpty());
}

}  // namespace
}  // namespace berth::test
