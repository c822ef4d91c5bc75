// SPDX-License-Identifier: Apache-2.0
// Which nodes a pod's own spec excludes, and which pool a node counts for.
#include "controller/queue/index/node_rules.h"

#include <gtest/gtest.h>

#include "tests/queue/queue_objects.h"

namespace berth::queue {
namespace {

class NodeRulesTest : public ::testing::Test {
 protected:
  NodeRulesTest() { facts_.put(NodeFact{.name = "n1"}); }
  static PodShape selecting(const char* key, const char* value) {
    PodShape shape;
    shape.edit()->node_selector.set(key, value);
    return shape;
  }
  // Whether n1 refuses pods of the shape.
  bool refuses(const PodShape& shape) {
    const std::string& name = rules_.name_of(shape);
    const Catalog& catalog = facts_.catalog();
    for (RulesId id = 0; id < catalog.rules(); ++id)
      if (catalog.rules_name(id) == name && facts_.room().refuses(facts_.room().in_order()[0], id))
        return true;
    return false;
  }

  FactsIndex facts_;
  NodeRules rules_{facts_};
  Node node_ = node_of("n1", 8);
};

TEST_F(NodeRulesTest, ANodesPoolIsThePoliciesWhateverItsLabelStillSays) {
  const PodShape training = selecting(names::kPoolLabel, "training"),
                 former = selecting(names::kPoolLabel, "former");
  node_.meta.labels.set(names::kPoolLabel, "former");
  rules_.put(node_, "training");
  EXPECT_FALSE(refuses(training));
  EXPECT_TRUE(refuses(former));
}

// berth does not write the label there, and kube-scheduler reads the present one.
TEST_F(NodeRulesTest, OfANodeThatNoPoolSelectsTheLabelCountsAsItStands) {
  const PodShape training = selecting(names::kPoolLabel, "training"),
                 former = selecting(names::kPoolLabel, "former");
  node_.meta.labels.set(names::kPoolLabel, "former");
  rules_.put(node_, "");
  EXPECT_TRUE(refuses(training));
  EXPECT_FALSE(refuses(former));
}

TEST_F(NodeRulesTest, SelectorsAndTaintsBothKeepPodsAway) {
  node_.meta.labels.set("disk", "fast");
  rules_.put(node_, "training");
  EXPECT_FALSE(refuses(PodShape()));
  EXPECT_FALSE(refuses(selecting("disk", "fast")));
  EXPECT_TRUE(refuses(selecting("disk", "slow")));
  node_.taints = {{"nvidia.com/gpu", "present", "NoSchedule"}};
  rules_.put(node_, "training");
  EXPECT_TRUE(refuses(PodShape()));
  EXPECT_TRUE(refuses(selecting("disk", "fast")));
  PodShape tolerant = selecting("disk", "fast");
  tolerant.edit()->tolerations = {{.key = "nvidia.com/gpu", .op = "Exists"}};
  EXPECT_FALSE(refuses(tolerant));
}

TEST_F(NodeRulesTest, WhatIsSaidLaterIsAskedOfTheVersionThatStands) {
  rules_.put(node_, "training");
  Node next = node_;
  next.meta.labels.set("disk", "fast");
  rules_.move(&node_, &next);
  EXPECT_FALSE(refuses(selecting("disk", "fast")));
  EXPECT_FALSE(refuses(selecting(names::kPoolLabel, "training"))) << "its pool has gone with it";
  rules_.move(&next, nullptr);
  EXPECT_FALSE(refuses(selecting("disk", "slow"))) << "nobody is asked any more";
}

TEST_F(NodeRulesTest, EqualSayingsHaveOneName) {
  PodShape fast = selecting("disk", "fast"), tolerant = fast;
  tolerant.edit()->tolerations = {{.key = "nvidia.com/gpu", .op = "Exists"}};
  EXPECT_EQ(rules_.name_of(fast), rules_.name_of(selecting("disk", "fast")));
  EXPECT_NE(rules_.name_of(fast), rules_.name_of(tolerant));
  EXPECT_NE(rules_.name_of(fast), rules_.name_of(selecting("disk", "slow")));
  PodShape asks;
  asks.edit()->requests.set("nvidia.com/gpu", Quantity::whole(8));
  EXPECT_EQ(rules_.name_of(PodShape()), rules_.name_of(asks)) << "resources are no saying";
}

}  // namespace
}  // namespace berth::queue
