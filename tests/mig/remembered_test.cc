// SPDX-License-Identifier: Apache-2.0
// Whose cordon it is, if a node's record was lost or belongs to another node; and nodes that stay
// out of service although no step is in progress.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apis/base/names.h"
#include "controller/disruption/slots.h"
#include "controller/explain/cordon.h"
#include "controller/explain/explain_node.h"
#include "controller/mig/rollout_choice.h"
#include "tests/mig/planned_cluster.h"

namespace berth::test {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class Remembered : public ::testing::Test {
 protected:
  Remembered() {
    world_.add_nodes(2).add(layout_);
    config_ = world_.render_agent_config("small");
  }
  Node n1() { return *world_.cluster.nodes().find("n1"); }
  void bring_to(RolloutPhase phase) {
    world_.claim("n1", "small");
    world_.add(on_its_way(n1(), layout_, config_, phase, world_.now));
  }
  // Sets the slot of n1.
  void set_slot(const Slot& slot) {
    ConfigMap ledger = world_.ledger();
    ledger.data["n1"] = encode_slot(slot);
    world_.add(ledger);
  }
  Slot slot() { return *read_ledger(world_.snapshot()).find("n1"); }
  // berth cordoned n1, the ledger says so, and a user removed the record.
  void lose_record(std::int64_t times = 1) {
    bring_to(RolloutPhase::kCordoned);
    Slot slot = this->slot();
    slot.berth_cordoned = true;
    slot.lost = times;
    slot.recall = world_.now;
    set_slot(slot);
    set_record(std::nullopt);
  }
  void set_record(const std::optional<std::string>& text) {
    Node node = n1();
    node.meta.annotations.erase(names::kRolloutAnnotation);
    if (text) node.meta.annotations.set(names::kRolloutAnnotation, Text(*text));
    world_.add(node);
  }
  // n1 was released after a failure.
  void keep_out(const std::string& failed_config = "berth-gone-01234567") {
    Node node = on_its_way(n1(), layout_, failed_config, RolloutPhase::kIdle, world_.now);
    NodeRollout rollout =
        *decode_rollout(node.meta.annotations.get(names::kRolloutAnnotation).view());
    rollout.node_uid = node.meta.uid;
    rollout.layout = "gone";
    rollout.berth_cordoned = true;
    rollout.failed_config = failed_config;
    rollout.why = "mig-manager reports failed";
    node.meta.annotations.set(names::kRolloutAnnotation, encode_rollout(rollout));
    world_.add(node);
  }
  const MIGLayout& stored() { return *world_.cluster.mig_layouts().find("small"); }
  std::string plan(const char* key) { return print(world_.plan(key)); }
  NodeStanding standing() {
    for (const NodeStanding& standing : decide_rollout(world_.snapshot(), stored()).nodes)
      if (standing.node->meta.name == "n1") return standing;
    return {};
  }
  std::string cordon_as_told() { return told_cordon(world_.snapshot(), n1()); }

  MIGLayout layout_ = under_way(layout("small"));
  PlannedCluster world_;
  std::string config_;
};

TEST_F(Remembered, TheLedgerNotesWhoseTheCordonIs) {
  bring_to(RolloutPhase::kCordoned);  // the slot is in the form of a former version
  EXPECT_THAT(plan("slots"), AllOf(HasSubstr("slots: n1 (cordoned by berth)"),
                                   HasSubstr(R"(\"berthCordoned\":true)")));
  Slot noted = slot();
  noted.berth_cordoned = true;
  set_slot(noted);
  EXPECT_EQ(plan("slots"), "");
}

struct Loss {
  const char* says;
  std::optional<std::string> record;
};

TEST_F(Remembered, ALostRecordIsWrittenAnewFromTheLedger) {
  NodeRollout older;
  older.since = world_.now;
  for (const Loss& loss : {Loss{"removed", std::nullopt}, Loss{"overwritten", "{junk"},
                           Loss{"an older one put back", encode_rollout(older)}}) {
    SCOPED_TRACE(loss.says);
    bring_to(RolloutPhase::kCordoned);
    Slot noted = slot();
    noted.berth_cordoned = true;
    set_slot(noted);
    set_record(loss.record);
    EXPECT_EQ(plan("node/n1"), "") << "the ledger counts first";
    EXPECT_THAT(plan("slots"),
                AllOf(HasSubstr("slots: n1 (its record is gone)"), HasSubstr(R"(\"lost\":1)")));
    noted.lost = 1;
    noted.recall = world_.now;
    set_slot(noted);
    EXPECT_THAT(plan("node/n1"),
                AllOf(HasSubstr(R"(\"phase\":\"Cordoned\")"),
                      HasSubstr(R"(\"berthCordoned\":true)"), HasSubstr(R"(\"seq\":1)"),
                      HasSubstr("event Warning Node/n1 RolloutForgotten: annotation")));
  }
}

TEST_F(Remembered, WhatTheLabelTellsOfTheCutIsVerifiedBeforeTheNodeReturns) {
  lose_record();
  Node node = n1();
  node.meta.labels.set(names::kMigConfig, Text(config_));
  node.meta.labels.erase(names::kMigConfigState);
  world_.add(node);
  EXPECT_THAT(plan("node/n1"), HasSubstr(R"(\"phase\":\"Applying\")"));
}

TEST_F(Remembered, ANodeThatIsBackInServiceIsNotTakenTwice) {
  lose_record();
  Node node = n1();
  node.unschedulable.reset();
  world_.add(node);
  EXPECT_THAT(plan("node/n1"),
              AllOf(HasSubstr(R"(\"phase\":\"Idle\")"),
                    HasSubstr(R"({"op":"test","path":"/spec/unschedulable","value":null})")));
}

TEST_F(Remembered, WhoeverTakesItAwayAgainIsNotFoughtButTold) {
  bring_to(RolloutPhase::kCordoned);
  Slot noted = slot();
  noted.berth_cordoned = true;
  set_record(std::nullopt);
  const seconds waits[] = {seconds(0),   seconds(30),  seconds(60), seconds(120),
                           seconds(240), seconds(480), seconds(480)};
  for (std::size_t i = 0; i < std::size(waits); ++i) {
    noted.lost = static_cast<std::int64_t>(i);
    noted.recall.reset();
    set_slot(noted);
    EXPECT_THAT(plan("slots"), HasSubstr(fmt::format(R"(\"lost\":{},\"recall\":\"{}\")", i + 1,
                                                     format_micro_time(world_.now + waits[i]))));
  }
  EXPECT_EQ(standing().bucket, NodeBucket::kBlocked);
  EXPECT_EQ(standing().cause.reason, "RolloutForgotten");
  EXPECT_THAT(standing().cause.message, HasSubstr("--show-managed-fields"));
}

TEST_F(Remembered, OneThatIsGoneAgainBeforeTheLedgerCouldCountIsLeftForAWhile) {
  lose_record();
  world_.answers.put("jsonpatch Node/n1 uid-n1 berth-mig", {.yes = true, .at = world_.now});
  EXPECT_EQ(plan("node/n1"), "requeue in 30000ms\n");
  world_.now += seconds(31);
  EXPECT_THAT(plan("node/n1"), HasSubstr("write annotation"));
}

TEST_F(Remembered, OneThatIsGoneAtOnceIsNotGuessedAtWhileTheLedgersNewsIsOnItsWay) {
  bring_to(RolloutPhase::kCordoned);
  set_record(std::nullopt);
  world_.answers.put("jsonpatch Node/n1 uid-n1 berth-mig", {.yes = true, .at = world_.now});
  EXPECT_EQ(plan("node/n1"), "requeue in 30000ms\n");
  set_record("{junk");
  EXPECT_EQ(plan("node/n1"), "requeue in 30000ms\n");
}

TEST_F(Remembered, NobodyIsToldThatTheCordonIsNotBerths) {
  lose_record();
  EXPECT_THAT(cordon_as_told(), HasSubstr("cordoned by berth for MIGLayout/small"));
  EXPECT_EQ(standing().bucket, NodeBucket::kInProgress);
  EXPECT_THAT(standing().cause.message, HasSubstr("its cordon is berth's"));
  EXPECT_TRUE(standing().out);
}

// --- the record of another node ---

TEST_F(Remembered, AnotherNodesRecordIsRemovedAndTheNodeIsNew) {
  NodeRollout twin =
      *read_rollout(on_its_way(n1(), layout_, config_, RolloutPhase::kApplying, world_.now))
           .rollout;
  twin.node_uid = "uid-n2";
  set_record(encode_rollout(twin));
  EXPECT_EQ(standing().phase, "Waiting");
  EXPECT_NE(standing().bucket, NodeBucket::kFailed);
  EXPECT_EQ(plan("slots"), "") << "nothing is under way";
  EXPECT_THAT(
      plan("node/n1"),
      AllOf(
          HasSubstr(R"({"op":"remove","path":"/metadata/annotations/gpu.berth.dev~1mig-rollout"})"),
          HasSubstr("RolloutForgotten"), Not(HasSubstr("Failed"))));
}

// A user deleted n1 in phase Cordoned, and re-created it from the output of `kubectl get`.
class Returned : public Remembered {
 protected:
  Returned() {
    bring_to(RolloutPhase::kCordoned);
    before_ = *read_rollout(n1()).rollout;
    before_.node_uid = "uid-n1";
    before_.node = "n1";
    come_back();
  }
  void come_back() {
    set_record(encode_rollout(before_));
    Node node = n1();
    node.meta.uid = "uid-again";
    world_.add(node);
  }
  NodeRollout before_;
};

TEST_F(Returned, WithBerthsCordonItGoesOnAndComesBack) {
  EXPECT_THAT(plan("node/n1"),
              AllOf(HasSubstr("created again with its cordon by berth: continue"),
                    HasSubstr(R"({"op":"test","path":"/metadata/uid","value":"uid-again"})"),
                    HasSubstr(R"({"op":"test","path":"/spec/unschedulable","value":true})"),
                    HasSubstr(R"(\"uid\":\"uid-again\")"), HasSubstr(R"(\"phase\":\"Cordoned\")"),
                    HasSubstr(R"(\"berthCordoned\":true)")));
  before_.node_uid = "uid-again";
  set_record(encode_rollout(before_));
  world_.answers.put(question(Guard{.node = {"Node", {}, "n1", "uid-n1"},
                                    .question = "is the node that has the slot gone?"}),
                     {.yes = true, .at = world_.now});
  EXPECT_THAT(plan("slots"), HasSubstr("n1 (another node now), n1 (on its way)"))
      << "the ledger follows the record";
}

TEST_F(Returned, WithAPersonsCordonItIsNew) {
  before_.berth_cordoned = false;
  come_back();
  EXPECT_THAT(plan("node/n1"), HasSubstr("belongs to another node: remove it"));
}

TEST_F(Returned, WithoutACordonItIsNew) {
  Node node = n1();
  node.unschedulable.reset();
  world_.add(node);
  EXPECT_THAT(plan("node/n1"), HasSubstr("belongs to another node: remove it"));
}

TEST_F(Returned, ACopyOfAnotherNameIsNew) {
  before_.node = "n2";
  come_back();
  EXPECT_THAT(plan("node/n1"), HasSubstr("belongs to another node: remove it"));
}

TEST_F(Returned, OneKeptOutAfterAFailureIsStillBerthsToReturn) {
  before_.phase = RolloutPhase::kIdle;
  before_.failed_config = "berth-gone-01234567";
  come_back();
  EXPECT_THAT(plan("node/n1"),
              AllOf(HasSubstr(R"(\"phase\":\"Idle\")"), HasSubstr(R"(\"berthCordoned\":true)")));
}

// --- out of service, without a step in progress ---

TEST_F(Remembered, AFailedNodeThatIsLetGoKeepsBerthsCordonAndSaysSo) {
  bring_to(RolloutPhase::kFailed);
  world_.cluster.erase<MIGLayout>("", "small");
  EXPECT_THAT(plan("node/n1"),
              AllOf(HasSubstr(R"(\"phase\":\"Idle\")"), HasSubstr(R"(\"berthCordoned\":true)"),
                    HasSubstr("it stays cordoned by berth until")));
}

TEST_F(Remembered, ANodeKeptOutIsToldAsBerths) {
  keep_out();
  EXPECT_THAT(cordon_as_told(),
              AllOf(HasSubstr("cordoned by berth for MIGLayout/gone, which failed here: "
                              "mig-manager reports failed"),
                    Not(HasSubstr("not by berth"))));
  const Explanation why = explain_node(world_.snapshot(), n1());
  ASSERT_THAT(why.remedies, Not(IsEmpty()));
  EXPECT_EQ(why.remedies.back().line, "kubectl uncordon n1");
  layout_.spec.rollout.initial_batch = 0;
  world_.add(layout_);
  const RolloutChoice choice = decide_rollout(world_.snapshot(), stored());
  const auto other = std::ranges::find_if(
      choice.nodes, [](const NodeStanding& s) { return s.node->meta.name == "n2"; });
  ASSERT_NE(other, choice.nodes.end());
  EXPECT_THAT(other->cause.message, HasSubstr("out: n1"));
  EXPECT_THAT(other->cause.message, Not(HasSubstr("not by berth")));
}

TEST_F(Remembered, AnotherLayoutTakesItWithBerthsCordon) {
  keep_out();
  set_slot({"uid-n1", "MIGLayout/small", 2, 1, world_.now});
  EXPECT_THAT(plan("node/n1"), AllOf(HasSubstr(R"(\"berthCordoned\":true)"),
                                     HasSubstr(R"(\"failedConfig\":\"berth-gone-01234567\")"),
                                     HasSubstr("taken while still cordoned by berth")));
}

TEST_F(Remembered, OneWhoseGpusAreRightReturns) {
  keep_out(config_);
  Node node = n1();
  node.meta.labels.set(names::kMigConfig, Text(config_));
  node.allocatable.set("nvidia.com/gpu", Quantity());
  node.allocatable.set("nvidia.com/mig-1g.10gb", Quantity::whole(28));
  world_.add(node);
  EXPECT_EQ(plan("node/n1"), "requeue in 30000ms\n");
  EXPECT_EQ(standing().bucket, NodeBucket::kInProgress);
  world_.now += seconds(30);
  EXPECT_THAT(plan("node/n1"), AllOf(HasSubstr(R"({"op":"remove","path":"/spec/unschedulable"})"),
                                     HasSubstr(R"(\"berthCordoned\":false,\"why\")")));
}

TEST_F(Remembered, WhoUncordonsItOwnsWhatIsCordonedThereLater) {
  keep_out();
  Node node = n1();
  node.unschedulable.reset();
  world_.add(node);
  EXPECT_THAT(plan("node/n1"),
              AllOf(HasSubstr(R"({"op":"test","path":"/spec/unschedulable","value":null})"),
                    HasSubstr(R"(\"berthCordoned\":false)")));
}

}  // namespace
}  // namespace berth::test
