// SPDX-License-Identifier: Apache-2.0
// When berth proposes a pool of shared GPUs, with which nodes, for which owners, and how.
#include "controller/advise/new_shared_pool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "controller/advise/advised_policy.h"
#include "tests/support/builders.h"

namespace berth::advise {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Nodes of pool web with four L4 of 22.5 GiB each, which do not support MIG.
class NewSharedPool : public ::testing::Test {
 protected:
  NewSharedPool() {
    policy_.meta.name = limits::kPolicyName;
    policy_.spec.pools.emplace_back().name = "web";
  }
  void nodes(int count) {
    for (int i = 1; i <= count; ++i)
      cluster_.upsert<Node>(test::node("n" + std::to_string(i))
                                .label(names::kGpuProduct, "NVIDIA-L4")
                                .label(names::kGpuCount, "4")
                                .label("nvidia.com/gpu.memory", "23040")
                                .allocatable("nvidia.com/gpu", 4),
                            {});
  }
  // So many pods with one GPU each, on consecutive nodes, with this utilization in percent.
  OwnerAdvice& owner(const std::string& name, int pods, int percent) {
    for (int i = 0; i < pods; ++i, ++given_)
      cluster_.upsert<Pod>(test::pod(name + "-" + std::to_string(i))
                               .gpu(1)
                               .in("lab")
                               .owner("StatefulSet", name)
                               .on("n" + std::to_string(given_ / 4 + 1)),
                           {});
    return advices_.emplace_back(OwnerAdvice{.owner = "lab/StatefulSet/" + name,
                                             .holds = "nvidia.com/gpu",
                                             .each = 1,
                                             .pods = pods,
                                             .used = percent,
                                             .verdict = Verdict::kKeep,
                                             .costs = 1'000 * pods});
  }
  std::vector<ProposedPool> propose() {
    const Snapshot snapshot{.cluster = cluster_, .answers = answers_, .settings = settings_};
    return propose_shared_pools(snapshot, policy_, advices_);
  }

  ClusterState cluster_;
  Answers answers_;
  Settings settings_;
  GPUClusterPolicy policy_;
  std::vector<OwnerAdvice> advices_;
  int given_ = 0;
};

TEST_F(NewSharedPool, TakesFewerGpusThanItsPodsHold) {
  nodes(3);
  owner("notes", 8, 10);  // twice that is a fifth: four per GPU
  const std::vector<ProposedPool> pools = propose();
  ASSERT_EQ(pools.size(), 1u);
  EXPECT_EQ(pools[0].name, "web-shared-by-4");
  EXPECT_EQ(pools[0].from, "web");
  EXPECT_THAT(pools[0].nodes, ElementsAre("n1")) << "16 parts";
  EXPECT_EQ(pools[0].replicas, 4);
  EXPECT_EQ(pools[0].strategy, SharingStrategy::kTimeSlicing) << "nothing tells of peaks";
  EXPECT_EQ(advices_[0].verdict, Verdict::kShare);
  EXPECT_EQ(advices_[0].instead, "nvidia.com/gpu.shared");
  EXPECT_EQ(advices_[0].month, 6'000);
  EXPECT_EQ(provided(advices_[0]), ", if 5 GB suffice");
}

TEST_F(NewSharedPool, IsNoneWhereItFreesNothing) {
  nodes(3);
  owner("notes", 4, 10);
  EXPECT_THAT(propose(), IsEmpty()) << "one node has four GPUs, too";
  EXPECT_EQ(advices_[0].verdict, Verdict::kKeep);
}

TEST_F(NewSharedPool, WhoIsTooFewForManyPartsJoinsThoseOfFewer) {
  nodes(3);
  owner("notes", 2, 5);
  owner("chat", 6, 20);  // twice that is two fifths
  const std::vector<ProposedPool> pools = propose();
  ASSERT_EQ(pools.size(), 1u);
  EXPECT_EQ(pools[0].replicas, 2);
  EXPECT_THAT(pools[0].owners, ElementsAre("lab/StatefulSet/chat", "lab/StatefulSet/notes"));
}

TEST_F(NewSharedPool, WhoNeedsTheGpuOrHasLessAlreadyIsLeftOut) {
  nodes(4);
  owner("busy", 8, 30);  // twice that is more than a half
  OwnerAdvice& cut = owner("cut", 8, 10);
  cut.verdict = Verdict::kProfile;
  cut.month = 7'000;
  EXPECT_THAT(propose(), IsEmpty());
  advices_[1].month = 5'000;
  advices_[1].profile = "3g.40gb";
  EXPECT_EQ(propose().size(), 1u);
  EXPECT_EQ(advices_.front().verdict, Verdict::kShare);
  EXPECT_EQ(advices_.front().profile, "") << "it is to share a GPU, not to have a part of one";
  EXPECT_EQ(advices_.front().instead_each, 1);
}

TEST_F(NewSharedPool, WhatLiesInMemoryHasToFitIntoAPart) {
  nodes(3);
  owner("notes", 8, 10).memory_mib = 6 * 1024;  // a quarter has 5 GiB, a half 10
  const std::vector<ProposedPool> pools = propose();
  ASSERT_EQ(pools.size(), 1u);
  EXPECT_EQ(pools[0].replicas, 2);
  advices_[0].memory_mib = 11 * 1024;
  advices_[0].verdict = Verdict::kKeep;
  advices_[0].month = 0;
  EXPECT_THAT(propose(), IsEmpty());
}

TEST_F(NewSharedPool, MpsIsForThoseOfWhomAllIsKnown) {
  nodes(3);
  OwnerAdvice& notes = owner("notes", 8, 10);
  notes.memory_mib = 4 * 1024;
  notes.peak = 20;
  std::vector<ProposedPool> pools = propose();
  ASSERT_EQ(pools.size(), 1u);
  EXPECT_EQ(pools[0].strategy, SharingStrategy::kMPS);
}

TEST_F(NewSharedPool, TakesNodesThatTheFewestOthersHaveToLeave) {
  nodes(4);
  owner("busy", 6, 90);  // on n1, and half of n2
  owner("notes", 8, 10);
  const std::vector<ProposedPool> pools = propose();
  ASSERT_EQ(pools.size(), 1u);
  EXPECT_THAT(pools[0].nodes, ElementsAre("n3"));
  EXPECT_EQ(pools[0].others, 0);
}

TEST_F(NewSharedPool, IsNotMadeTwice) {
  nodes(3);
  owner("notes", 8, 10);
  policy_.spec.pools.emplace_back().name = "web-shared-by-4";
  policy_.spec.pools.back().node_selector.match_labels = {{"no", "node"}};
  const std::vector<ProposedPool> pools = propose();
  ASSERT_EQ(pools.size(), 1u);
  EXPECT_EQ(pools[0].name, "web-shared-by-2") << "the other stands, whatever nodes it has";
}

TEST(AdvisedPolicy, ChangesPoolsAndKeepsAllElse) {
  const auto standing = nlohmann::json::parse(R"json({
    "apiVersion": "gpu.berth.dev/v1alpha1", "kind": "GPUClusterPolicy",
    "metadata": {"name": "cluster", "uid": "u", "resourceVersion": "7",
                 "labels": {"team": "platform"}},
    "spec": {"pools": [
        {"name": "web", "nodeSelector": {"matchLabels": {"tier": "web"}}, "migStrategy": "single",
         "taints": [{"key": "gpu", "effect": "NoSchedule"}], "later": {"field": 1}},
        {"name": "train", "nodeSelector": {}}],
      "idle": {"policy": "Notify"}, "tomorrow": [1, 2]},
    "status": {"conditions": []}})json");
  const ProposedPool shared{.name = "web-shared-by-4",
                            .from = "web",
                            .nodes = {"n1", "n2"},
                            .strategy = SharingStrategy::kMPS,
                            .replicas = 4};
  auto advised = nlohmann::json::parse(advised_policy(standing.dump(), {"train"}, {shared}));
  EXPECT_EQ(advised["metadata"],
            (nlohmann::json{{"name", "cluster"}, {"labels", {{"team", "platform"}}}}));
  EXPECT_FALSE(advised.contains("status"));
  auto& pools = advised["spec"]["pools"];
  ASSERT_EQ(pools.size(), 3u);
  EXPECT_EQ(pools[0], nlohmann::json::parse(R"json({
        "name": "web-shared-by-4",
        "nodeSelector": {"matchExpressions": [
            {"key": "kubernetes.io/hostname", "operator": "In", "values": ["n1", "n2"]}]},
        "sharing": {"strategy": "MPS", "replicas": 4, "renameByDefault": true,
                    "failRequestsGreaterThanOne": true},
        "taints": [{"key": "gpu", "effect": "NoSchedule"}], "later": {"field": 1}})json"));
  EXPECT_EQ(pools[1], standing["spec"]["pools"][0]);
  EXPECT_EQ(pools[2]["migStrategy"], "mixed");
  pools = standing["spec"]["pools"];
  EXPECT_EQ(advised["spec"], standing["spec"]) << "all else is as it was";
}

}  // namespace
}  // namespace berth::advise
