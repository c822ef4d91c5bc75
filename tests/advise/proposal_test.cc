// SPDX-License-Identifier: Apache-2.0
// Proposed layouts for advised owners: which nodes, which partitions, and what is left unchanged.
#include "controller/advise/proposal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controller/fleet/geometry.h"
#include "controller/fleet/placement.h"
#include "tests/support/builders.h"

namespace berth::advise {
namespace {

using test::node;
using test::pod;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class ProposalTest : public ::testing::Test {
 protected:
  ProposalTest() {
    policy_.meta.name = limits::kPolicyName;
    policy_.spec.pools.emplace_back().name = "all";
  }
  void nodes(int count, int gpus) {
    for (int i = 0; i < count; ++i)
      cluster_.upsert<Node>(node("node-" + std::to_string(i)).a100_80(gpus), now_);
  }
  void run(const std::string& owner, int on, int pods) {
    for (int i = 0; i < pods; ++i)
      cluster_.upsert<Pod>(pod(owner + "-" + std::to_string(cluster_.pods().size()))
                               .gpu(1)
                               .in("web")
                               .owner("StatefulSet", owner)
                               .on("node-" + std::to_string(on)),
                           now_);
  }
  void advise(const std::string& owner, const std::string& profile) {
    advices_.push_back(
        {.owner = "web/StatefulSet/" + owner, .verdict = Verdict::kProfile, .profile = profile});
  }
  Proposal propose() const {
    return propose_layouts({cluster_, answers_, settings_, now_}, policy_, advices_);
  }

  Time now_ = parse_time("2026-11-25T12:00:00Z").value();
  GPUClusterPolicy policy_;
  ClusterState cluster_;
  Answers answers_;
  Settings settings_;
  std::vector<OwnerAdvice> advices_;
};

TEST_F(ProposalTest, CutsTheNodesWhereTheFewestOthersHaveToLeave) {
  nodes(3, 4);
  run("train", 0, 4);
  run("train", 1, 1);
  run("chat", 1, 2);
  run("chat", 2, 4);
  advise("chat", "3g.40gb");
  const Proposal proposal = propose();
  ASSERT_EQ(proposal.layouts.size(), 1U);
  const ProposedLayout& layout = proposal.layouts.front();
  EXPECT_EQ(layout.name, "advised-all-a100-80gb-1");
  EXPECT_EQ(layout.product, "NVIDIA-A100-SXM4-80GB");
  EXPECT_THAT(layout.nodes, ElementsAre("node-2"));
  ASSERT_EQ(layout.devices.size(), 2U);  // three with two each, and one whole
  EXPECT_EQ(layout.devices[0].profiles, (ProfileCounts{{"3g.40gb", 2}}));
  EXPECT_THAT(*layout.devices[0].gpus, ElementsAre(0, 1, 2));
  EXPECT_THAT(layout.devices[1].profiles, IsEmpty());
  EXPECT_THAT(*layout.devices[1].gpus, ElementsAre(3));
  EXPECT_THAT(proposal.without_room, IsEmpty());
  EXPECT_THAT(proposal.pools, ElementsAre("all"));
}

TEST_F(ProposalTest, NodesThatComeOutAlikeAreOneLayoutOfNoMoreThanASelectorTakes) {
  nodes(140, 1);
  for (int i = 0; i < 140; ++i) run("chat", i, 1);
  advise("chat", "4g.40gb");  // one per GPU
  policy_.spec.pools.front().mig_strategy = PluginMigStrategy::kMixed;
  const Proposal proposal = propose();
  ASSERT_EQ(proposal.layouts.size(), 3U);
  EXPECT_EQ(proposal.layouts[0].nodes.size(), 64U);
  EXPECT_EQ(proposal.layouts[2].nodes.size(), 12U);
  EXPECT_EQ(proposal.layouts[2].name, "advised-all-a100-80gb-3");
  EXPECT_FALSE(proposal.layouts[0].devices.front().gpus);  // all GPUs of the node
  EXPECT_THAT(proposal.pools, IsEmpty());
}

TEST_F(ProposalTest, LeavesNodesAloneThatAreCutOrHaveALayout) {
  nodes(2, 1);
  run("chat", 0, 1);
  run("chat", 1, 1);
  MIGLayout theirs;
  theirs.meta.name = "theirs";
  theirs.spec.node_selector.emplace();
  cluster_.upsert(std::move(theirs), now_);
  advise("chat", "1g.10gb");
  const Proposal proposal = propose();
  EXPECT_THAT(proposal.layouts, IsEmpty());
  EXPECT_THAT(proposal.without_room, ElementsAre("all: 2 of nvidia.com/mig-1g.10gb"));
}

// A partitioned node is in use, even while one of its resources is empty.
TEST_F(ProposalTest, LeavesNodesAloneThatAreCutWithoutALayout) {
  cluster_.upsert<Node>(node("node-0")
                            .a100_80(1)
                            .allocatable("nvidia.com/mig-1g.10gb", 7)
                            .allocatable("nvidia.com/mig-7g.80gb", 0),
                        now_);
  run("chat", 0, 1);
  advise("chat", "1g.10gb");
  EXPECT_THAT(propose().layouts, IsEmpty());
  nodes(1, 1);
  EXPECT_EQ(propose().layouts.size(), 1U) << "whole again";
}

TEST_F(ProposalTest, NodesThatComeOutOtherwiseHaveLayoutsOfTheirOwn) {
  nodes(2, 2);
  for (int i = 0; i < 3; ++i) run("chat", i / 2, 1);
  advise("chat", "4g.40gb");  // one per GPU: three of the four
  const Proposal proposal = propose();
  ASSERT_EQ(proposal.layouts.size(), 2U);
  EXPECT_EQ(proposal.layouts[0].devices.size(), 1U) << "both of its GPUs";
  EXPECT_EQ(proposal.layouts[1].devices.size(), 2U) << "and one that stays whole";
}

TEST_F(ProposalTest, PoolsHaveLayoutsOfTheirOwnThoughTheyComeOutAlike) {
  policy_.spec.pools.clear();
  for (const char* name : {"left", "right"}) {
    PoolSpec& pool = policy_.spec.pools.emplace_back();
    pool.name = name;
    pool.node_selector.match_labels["side"] = name;
  }
  cluster_.upsert<Node>(node("node-0").a100_80(1).label("side", "left"), now_);
  cluster_.upsert<Node>(node("node-1").a100_80(1).label("side", "right"), now_);
  run("chat", 0, 1);
  run("chat", 1, 1);
  advise("chat", "4g.40gb");
  const Proposal proposal = propose();
  ASSERT_EQ(proposal.layouts.size(), 2U);
  EXPECT_EQ(proposal.layouts[0].name, "advised-left-a100-80gb-1");
  EXPECT_EQ(proposal.layouts[1].name, "advised-right-a100-80gb-1");
  EXPECT_THAT(proposal.layouts[1].nodes, ElementsAre("node-1"));
}

TEST_F(ProposalTest, WhatCannotBeCutIsLeft) {
  cluster_.upsert<Node>(node("node-0").allocatable("nvidia.com/gpu", 1), now_);
  cluster_.upsert<Node>(node("node-1")
                            .allocatable("nvidia.com/gpu", 1)
                            .label("nvidia.com/gpu.product", "Tesla-K80")
                            .label("nvidia.com/gpu.count", "1"),
                        now_);
  run("chat", 0, 1);
  run("chat", 1, 1);
  advise("chat", "1g.10gb");
  const Proposal proposal = propose();
  EXPECT_THAT(proposal.layouts, IsEmpty());
  EXPECT_THAT(proposal.without_room, IsEmpty());
}

TEST(ProposalNames, EachModelInSmallLettersMayStandInAnObjectsName) {
  for (const Product& product : all_products())
    EXPECT_EQ(product.model.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-"),
              std::string::npos)
        << product.model;
}

TEST_F(ProposalTest, WhoIsAdvisedNothingGetsNoLayout) {
  nodes(1, 1);
  run("chat", 0, 1);
  EXPECT_THAT(propose().layouts, IsEmpty());
  policy_.spec.pools.clear();
  advise("chat", "1g.10gb");
  EXPECT_THAT(propose().layouts, IsEmpty());
}

}  // namespace
}  // namespace berth::advise
