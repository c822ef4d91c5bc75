// SPDX-License-Identifier: Apache-2.0
// How many nodes berth claims at once, and the budget for nodes that are unavailable already.
#include "controller/mig/rollout_choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apis/base/reasons.h"
#include "controller/disruption/slots.h"
#include "tests/mig/planned_cluster.h"

namespace berth::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct RolloutChoiceTest : ::testing::Test {
  // Four empty nodes with this budget; all are candidates at once.
  void four_nodes(int max_unavailable, int initial_batch = 4) {
    world.add_nodes(4);
    world.add(under_way(layout("small").retire("nvidia.com/gpu").with([&](MIGLayoutSpec& spec) {
      spec.rollout.max_unavailable = {max_unavailable, false};
      spec.rollout.initial_batch = initial_batch;
    })));
    world.render_agent_config("small");
  }
  Node cordoned(const std::string& name) {
    return test::node(name).a100_80(4).label("tier", "mig").cordoned();
  }
  void put_slot(const std::string& node, const std::string& uid,
                const std::string& layout = "small") {
    ConfigMap ledger = world.ledger();
    ledger.data[node] = encode_slot({uid, layout_holder(layout), 1, 1, world.now});
    world.add(ledger);
  }
  RolloutChoice decide() {
    return decide_rollout(world.snapshot(), *world.cluster.mig_layouts().find("small"));
  }
  static std::vector<std::string> taken(const RolloutChoice& choice) {
    std::vector<std::string> names;
    for (const NodeClaim& claim : choice.take)
      names.push_back(claim.node->meta.name + (claim.already_out ? " (out)" : ""));
    return names;
  }
  PlannedCluster world;
};

TEST_F(RolloutChoiceTest, TakesAsManyAsTheBudgetHasRoomFor) {
  four_nodes(3);
  const RolloutChoice choice = decide();
  EXPECT_THAT(taken(choice), ElementsAre("n1", "n2", "n3"));
  EXPECT_EQ(choice.nodes[3].cause.reason, reasons::kMaxUnavailable);
}

TEST_F(RolloutChoiceTest, ANodeThatIsOutAlreadyIsTakenWhereTheBudgetHasNoRoom) {
  four_nodes(1);
  world.add(cordoned("n2"));
  const RolloutChoice choice = decide();
  EXPECT_EQ(choice.out, 1);
  EXPECT_THAT(taken(choice), ElementsAre("n2 (out)"));
  EXPECT_THAT(choice.nodes[0].cause.message,
              HasSubstr("1 of 4 selected nodes may be unavailable; out: "
                        "n2 (cordoned, not by berth)"));
}

TEST_F(RolloutChoiceTest, ANodeThatIsOutAlreadyLeavesTheRoomToOthers) {
  four_nodes(3);
  world.add(cordoned("n1"));
  EXPECT_THAT(taken(decide()), ElementsAre("n1 (out)", "n2", "n3"));
}

TEST_F(RolloutChoiceTest, TheInitialBatchHoldsForThoseThatAreOutToo) {
  four_nodes(4, 1);
  world.add(cordoned("n1")).add(cordoned("n2"));
  const RolloutChoice choice = decide();
  EXPECT_THAT(taken(choice), ElementsAre("n1 (out)"));
  EXPECT_EQ(choice.nodes[1].cause.reason, reasons::kInitialBatch);
}

// The ledger, which gets every claim, is never behind; the cache of nodes may be.
TEST_F(RolloutChoiceTest, ASlotUnderItsNameKeepsANodeOutWhosesoeverItIs) {
  four_nodes(1);
  put_slot("n2", "another");
  const RolloutChoice choice = decide();
  EXPECT_THAT(taken(choice), IsEmpty());
  EXPECT_EQ(choice.out, 1);
  EXPECT_EQ(choice.nodes[1].bucket, NodeBucket::kInProgress);
  EXPECT_THAT(choice.nodes[1].cause.message,
              HasSubstr("the ledger has the slot of another node of this name"));
  EXPECT_EQ(choice.nodes[0].cause.reason, reasons::kMaxUnavailable);
}

TEST_F(RolloutChoiceTest, ASlotOfANodeThatTheCacheDoesNotKnowIsOneOfTheBudget) {
  four_nodes(2, 2);
  put_slot("n9", "uid-n9");
  const RolloutChoice choice = decide();
  EXPECT_EQ(choice.out, 1);
  EXPECT_EQ(choice.left_out, 1);
  EXPECT_THAT(taken(choice), ElementsAre("n1"));
  four_nodes(4, 1);
  const RolloutChoice first = decide();
  EXPECT_THAT(taken(first), IsEmpty());
  EXPECT_EQ(first.nodes[0].cause.reason, reasons::kInitialBatch) << "it may be the first of them";
  put_slot("n9", "uid-n9", "other");
  EXPECT_EQ(decide().out, 0) << "another layout's is that one's";
}

TEST_F(RolloutChoiceTest, APausedLayoutTakesNothingAndSaysSo) {
  four_nodes(4);
  MIGLayout paused = *world.cluster.mig_layouts().find("small");
  paused.spec.rollout.paused = true;
  world.add(paused);
  const RolloutChoice choice = decide();
  EXPECT_THAT(taken(choice), IsEmpty());
  ASSERT_TRUE(choice.closed);
  EXPECT_EQ(choice.closed->reason, reasons::kPaused);
  EXPECT_EQ(choice.nodes[0].cause.reason, reasons::kPaused);
}

}  // namespace
}  // namespace berth::test
