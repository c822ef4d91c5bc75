// SPDX-License-Identifier: Apache-2.0
// A pod's chances on nodes whose GPUs are partitioned, or are about to be.
#include "controller/explain/node_groups.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controller/disruption/rollout_annotation.h"
#include "tests/support/builders.h"

namespace berth::test {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr char kSlice[] = "nvidia.com/mig-1g.10gb";

class NodeGroups : public ::testing::Test {
 protected:
  NodeGroups() { cluster_.upsert<MIGLayout>(layout("small"), now_); }
  // One GPU, to be partitioned into seven.
  static NodeBuilder n(int number) {
    return node("n" + std::to_string(number)).a100_80(1).label("tier", "mig");
  }
  void add(const Node& node) { cluster_.upsert(node, now_); }
  // Cordoned by a user before berth claimed it, or by berth.
  void take(NodeBuilder builder, RolloutPhase phase, bool by_berth = false) {
    Node node = builder.cordoned();
    node.meta.annotations.set(names::kRolloutAnnotation,
                              encode_rollout({.seq = 1,
                                              .epoch = 1,
                                              .node_uid = node.meta.uid,
                                              .layout_uid = "uid-small",
                                              .layout = "small",
                                              .phase = phase,
                                              .since = now_,
                                              .berth_cordoned = by_berth,
                                              .why = "no such profile"}));
    add(node);
  }
  std::vector<NodeGroup> groups_for(const Pod& pod) {
    Snapshot snapshot{cluster_, answers_, settings_, now_};
    snapshot.attention = attention_;
    return group_nodes(snapshot, Fit(cluster_), pod, no_clues());
  }
  static Pod asking(int slices) {
    return pod("train").requests(kSlice, slices).phase(PodPhase::kPending);
  }

  Time now_ = *parse_time("2026-11-21T12:10:00Z");
  ClusterState cluster_;
  Answers answers_;
  Settings settings_;
  Attention attention_;
};

TEST_F(NodeGroups, ANodeComesIfItsLayoutGivesAsMuchAsIsAskedFor) {
  add(n(1));
  const std::vector<NodeGroup> all = groups_for(asking(7));
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].fate, NodeFate::kComing) << all[0].words;
  EXPECT_THAT(all[0].words, StartsWith("to be repartitioned for MIGLayout/small"));
  const std::vector<NodeGroup> more = groups_for(asking(8));
  ASSERT_EQ(more.size(), 1U);
  EXPECT_EQ(more[0].fate, NodeFate::kLacksGpu);
}

TEST_F(NodeGroups, WhatIsAskedForByNothingIsNoHindrance) {
  add(n(1));
  Pod none = asking(7);
  none.shape.edit()->requests.set("nvidia.com/mig-2g.20gb", Quantity());
  EXPECT_EQ(groups_for(none).front().fate, NodeFate::kComing);
}

TEST_F(NodeGroups, ANodeThatIsOutForALayoutThatGivesTooLittleLeaves) {
  take(n(1), RolloutPhase::kApplying);
  EXPECT_EQ(groups_for(asking(7)).front().fate, NodeFate::kComing);
  const NodeGroup leaving = groups_for(asking(8)).front();
  EXPECT_EQ(leaving.fate, NodeFate::kLeaving);
  EXPECT_THAT(leaving.words, EndsWith("; will not offer enough of nvidia.com/mig-1g.10gb then"));
}

// The layout's progressDeadline is half an hour.
TEST_F(NodeGroups, ANodeIsExpectedBackByThePatienceOfThisLeader) {
  take(n(1), RolloutPhase::kApplying, /*by_berth=*/true);
  const auto words = [this] { return groups_for(asking(7)).front().words; };
  EXPECT_THAT(words(), HasSubstr("by 2026-11-21T12:40:00Z unless the leader changes"));
  attention_.since = now_ + std::chrono::minutes(3);
  EXPECT_THAT(words(), HasSubstr("by 2026-11-21T12:43:00Z unless the leader changes"));
}

// Both were cordoned by another client first; no more is known of either.
TEST_F(NodeGroups, NodesOfWhichTheSameIsSaidAreApartIfOneComesAndOneDoesNot) {
  take(n(1).allocatable(kSlice, 7), RolloutPhase::kApplying);
  take(n(2).allocatable(kSlice, 7), RolloutPhase::kFailed);
  take(n(3).allocatable(kSlice, 7), RolloutPhase::kApplying);
  const std::vector<NodeGroup> groups = groups_for(asking(1));
  ASSERT_EQ(groups.size(), 2U);
  EXPECT_EQ(groups[0].words, groups[1].words);
  EXPECT_EQ(groups[0].fate, NodeFate::kComing);
  EXPECT_THAT(groups[0].nodes, ElementsAre("n1", "n3"));
  EXPECT_EQ(groups[1].fate, NodeFate::kCordoned);
  EXPECT_THAT(groups[1].nodes, ElementsAre("n2"));
}

}  // namespace
}  // namespace berth::test
