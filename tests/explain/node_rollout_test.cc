// SPDX-License-Identifier: Apache-2.0
// The answer of `berth why` about a node's place in its layout's rollout: the label that it will
// get, and the capacity that would remain without it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apis/base/reasons.h"
#include "controller/explain/explain_node.h"
#include "controller/mig/agent_config.h"
#include "tests/mig/planned_cluster.h"

namespace berth::test {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class NodeRolloutWhy : public ::testing::Test {
 protected:
  // With one node, n1, and its config in mig-manager's file.
  void lay_out(const LayoutBuilder& layout) {
    world_.add_nodes(1);
    world_.add(under_way(layout));
    config_ = world_.render_agent_config("small");
  }
  void hold_a_gpu() { world_.add(pod("train").gpu(1).on("n1")); }
  Explanation why() {
    return explain_node(world_.snapshot(), *world_.cluster.nodes().find("n1"), no_clues());
  }
  static std::vector<std::string> facts(const Explanation& told, const std::string& topic) {
    std::vector<std::string> out;
    for (const Explanation::Fact& fact : told.facts)
      if (fact.topic == topic) out.push_back(fact.reason + ": " + fact.message);
    return out;
  }
  static auto tells_label() { return Contains(HasSubstr("and is to be")); }

  PlannedCluster world_;
  std::string config_;
};

TEST_F(NodeRolloutWhy, TheLabelItIsToGetIsTold) {
  lay_out(layout("small"));
  EXPECT_THAT(facts(why(), "rollout"),
              Contains(HasSubstr("nvidia.com/mig.config is all-disabled and is to be " + config_)));
}

TEST_F(NodeRolloutWhy, NoLabelIsToldWhereTheLayoutFindsNoGpusThatItKnows) {
  world_.add(layout("small"));
  world_.add(node("n1").a100_80(4).label("tier", "mig").label(names::kGpuProduct, "Tesla-K80"));
  const Explanation told = why();
  ASSERT_EQ(told.state, "Waiting");
  EXPECT_THAT(facts(told, "rollout"), Not(tells_label()));
}

TEST_F(NodeRolloutWhy, WhereAWriteIsRefusedTheRemedyIsWithWhateverRefusesIt) {
  lay_out(layout("small"));
  const auto remedies = [this] {
    std::string text;
    for (const Explanation::Remedy& remedy : why().remedies) text += remedy.message + "\n";
    return text;
  };
  EXPECT_EQ(remedies(), "");
  MIGLayout told = *world_.cluster.mig_layouts().find("small");
  told.status.details = {{.node = "n1",
                          .phase = "Waiting",
                          .reason = reasons::kWriteRefused,
                          .message = "policy says no",
                          .since = {}}};
  world_.add(told);
  EXPECT_EQ(why().reason, reasons::kWriteRefused);
  EXPECT_EQ(
      remedies(),
      "change what refuses the write, as the server's words say; berth continues by itself\n");
}

// An alias makes mig-manager run again; no remedy may overwrite it.
TEST_F(NodeRolloutWhy, NoLabelIsToldWhereItHasAnotherNameOfTheSameConfig) {
  lay_out(layout("small"));
  Node n1 = *world_.cluster.nodes().find("n1");
  n1.meta.labels.set(names::kMigConfig, alias(config_, 1));
  n1.allocatable.erase("nvidia.com/gpu");
  n1.allocatable.set("nvidia.com/mig-1g.10gb", Quantity::whole(28));
  world_.add(n1);
  const Explanation told = why();
  ASSERT_EQ(told.state, "UpToDate") << told.message;
  EXPECT_THAT(facts(told, "rollout"), Not(tells_label()));
}

TEST_F(NodeRolloutWhy, WhatKeepsTheGuardFromItIsToldBesideWhatItWaitsForNow) {
  lay_out(layout("small").with([](MIGLayoutSpec& spec) { spec.rollout.paused = true; }));
  EXPECT_THAT(facts(why(), "guard"), IsEmpty()) << "nobody holds any";
  hold_a_gpu();
  const Explanation told = why();
  EXPECT_EQ(told.reason, reasons::kPaused);
  EXPECT_THAT(facts(told, "guard"),
              Contains(HasSubstr("LastProvider: no other node in service offers nvidia.com/gpu")));
}

TEST_F(NodeRolloutWhy, TheGuardIsNotToldTwice) {
  lay_out(layout("small"));
  hold_a_gpu();
  EXPECT_EQ(why().reason, reasons::kLastProvider);
  EXPECT_THAT(facts(why(), "guard"), IsEmpty());
  world_.add(under_way(layout("small").with([](MIGLayoutSpec& spec) {
    spec.capacity_guard.protect_last_provider = false;
    spec.capacity_guard.min_available["nvidia.com/gpu"] = 4;
  })));
  EXPECT_EQ(why().reason, reasons::kCapacityGuard);
  EXPECT_THAT(facts(why(), "guard"), IsEmpty());
}

TEST_F(NodeRolloutWhy, TheGuardHasNothingToSayOfANodeThatIsDone) {
  lay_out(layout("small"));
  Node n1 = *world_.cluster.nodes().find("n1");
  n1.meta.labels.set(names::kMigConfig, config_);
  n1.allocatable.erase("nvidia.com/gpu");
  n1.allocatable.set("nvidia.com/mig-1g.10gb", Quantity::whole(28));
  world_.add(n1);
  world_.add(pod("train").requests("nvidia.com/mig-1g.10gb", 1).on("n1"));
  const Explanation told = why();
  ASSERT_EQ(told.state, "UpToDate") << told.message;
  EXPECT_THAT(facts(told, "guard"), IsEmpty());
}

}  // namespace
}  // namespace berth::test
