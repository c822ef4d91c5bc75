// SPDX-License-Identifier: Apache-2.0
// Writes that the API server refuses permanently: what berth does instead, and where it reports
// them.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apis/base/names.h"
#include "apis/base/reasons.h"
#include "controller/core/refused_write.h"
#include "tests/mig/planned_cluster.h"

namespace berth::test {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kWords[] = "platform policy: ask team-sre";

class Refused : public ::testing::Test {
 protected:
  Refused() {
    world_.add_nodes(2).add(layout_);
    config_ = world_.render_agent_config("small");
  }
  void refuse(const ObjectRef& object, const std::string& what, int times = 1,
              Verb verb = Verb::kJsonPatch) {
    const Step step =
        Write{.verb = verb, .object = object, .body = {}, .field_manager = names::kManagerMig};
    for (int i = 0; i < times; ++i)
      world_.answers.put(question(step),
                         {.yes = false,
                          .error = {.kind = ErrorKind::kInvalid,
                                    .message = "nodes \"n1\" is forbidden: " + std::string(kWords),
                                    .where = {},
                                    .http_code = 422},
                          .against = {},
                          .at = world_.now,
                          .object = object.str(),
                          .field_manager = names::kManagerMig,
                          .reason = what});
  }
  void refuse_n1(const std::string& what, int times = 1) { refuse(ref_of(n1()), what, times); }
  Node n1() { return *world_.cluster.nodes().find("n1"); }
  void take_n1(RolloutPhase phase) {
    world_.claim("n1", "small");
    world_.add(on_its_way(n1(), layout_, config_, phase, world_.now));
  }
  // The node after its slot was given back.
  void give_back_n1() {
    NodeRollout idle;
    idle.seq = 1;
    idle.attempt = 1;
    idle.not_before = world_.now + seconds(30);
    idle.why = refused_write(world_.snapshot(), ref_of(n1()), names::kManagerMig)->message;
    idle.cause = reasons::kWriteRefused;
    Node node = n1();
    node.meta.annotations.set(names::kRolloutAnnotation, encode_rollout(idle));
    world_.add(node);
    free_slots();
  }
  void free_slots() {
    ConfigMap ledger = world_.ledger();
    ledger.data.clear();
    world_.add(ledger);
  }
  std::string plan_of(const std::string& key) { return print(world_.plan(key)); }
  std::string status() { return world_.plan("layout/small").statuses.front().body; }
  std::string stalled() {
    const std::string text = status();
    const std::size_t at = text.find(R"("type":"Stalled")");
    return at == text.npos ? "" : text.substr(at, text.find('}', at) - at);
  }

  MIGLayout layout_ = under_way(layout("small").retire("nvidia.com/gpu"));
  PlannedCluster world_;
  std::string config_;
};

TEST_F(Refused, AClaimWhoseCordonIsRefusedIsTriedAndThenGivenBack) {
  world_.claim("n1", "small");
  refuse_n1("cordon for MIGLayout small", 2);
  EXPECT_THAT(plan_of("node/n1"), HasSubstr("jsonpatch Node/n1: cordon for MIGLayout small"));
  EXPECT_THAT(status(), HasSubstr(kWords)) << "told at the first refusal";
  EXPECT_EQ(stalled(), "") << "the slot is about to be given back";
  refuse_n1("cordon for MIGLayout small");
  const std::string plan = plan_of("node/n1");
  EXPECT_THAT(plan, AllOf(HasSubstr("give the slot back: its cordon is refused"),
                          HasSubstr(R"(\"seq\":1)"), HasSubstr(R"(\"phase\":\"Idle\")"),
                          HasSubstr(R"(\"notBefore\":\"2026-11-21T12:00:30)"),
                          HasSubstr(R"(\"cause\":\"WriteRefused\")"), HasSubstr(kWords)));
}

TEST_F(Refused, MeanwhileOtherNodesGoAndThenTheLayoutIsStalled) {
  world_.claim("n1", "small");
  refuse_n1("cordon for MIGLayout small", 3);
  give_back_n1();
  world_.answers = Answers();  // the refusal is remembered per node
  EXPECT_THAT(plan_of("layout/small"), HasSubstr("claim for MIGLayout small: n2"));
  EXPECT_EQ(stalled(), "");
  world_.add(Node(node("n2").a100_80(4).label("tier", "other")));  // no other work is left
  const std::string told = stalled();
  EXPECT_THAT(told, AllOf(HasSubstr("WriteRefused"), HasSubstr(kWords),
                          HasSubstr("cordon for MIGLayout small"),
                          HasSubstr("tried again after 2026-11-21T12:00:30Z")));
  EXPECT_THAT(status(), HasSubstr(R"("blocked":1)"));
  world_.now += seconds(30);
  EXPECT_THAT(plan_of("layout/small"), HasSubstr("claim for MIGLayout small: n1"));
  EXPECT_THAT(stalled(), HasSubstr("WriteRefused")) << "until it is let through";
}

TEST_F(Refused, ANodeThatCannotBeWrittenAtAllLosesItsSlotOnceNothingIsInFlight) {
  world_.claim("n1", "small");
  refuse_n1("cordon for MIGLayout small", 4);
  EXPECT_EQ(plan_of("slots"), "requeue in 60000ms\n");
  world_.now += seconds(59);
  refuse_n1("give the slot back: its cordon is refused");
  EXPECT_EQ(plan_of("slots"), "requeue in 1000ms\n");
  world_.now += seconds(1);
  EXPECT_THAT(plan_of("slots"), HasSubstr("slots: n1 (can't be written)"));
  // A former leader's cordon may still be in flight.
  ++world_.epoch;
  ConfigMap ledger = world_.ledger();
  ledger.meta.annotations.set(names::kEpochAnnotation, "2");
  world_.add(ledger);
  EXPECT_EQ(plan_of("slots"), "");
  EXPECT_THAT(stalled(), HasSubstr("WriteRefused"));
}

TEST_F(Refused, ANodeWhoseLabelIsRefusedIsPutBackAtTheDrainsTimeout) {
  take_n1(RolloutPhase::kCordoned);
  world_.now += minutes(2);
  refuse_n1("apply " + config_);
  EXPECT_THAT(plan_of("node/n1"), AllOf(HasSubstr("jsonpatch Node/n1: apply " + config_),
                                        HasSubstr("requeue in 1080000ms")));
  EXPECT_THAT(stalled(), AllOf(HasSubstr("WriteRefused"),
                               HasSubstr("n1: the API server refuses it "
                                         "(apply "),
                               HasSubstr(kWords)));
  Node held = *world_.cluster.nodes().find("n2");
  held.meta.annotations.set(names::kHoldAnnotation, "later");
  world_.add(held);
  EXPECT_THAT(stalled(), HasSubstr("WriteRefused")) << "a node that is out is told first";
  world_.now += minutes(18);
  refuse_n1("apply " + config_);
  EXPECT_THAT(plan_of("node/n1"),
              AllOf(HasSubstr("restore: the API server refuses it (apply "),
                    HasSubstr(R"({"op":"remove","path":"/spec/unschedulable"})"),
                    HasSubstr(R"(\"cause\":\"WriteRefused\")")));
}

TEST_F(Refused, IfTheUncordonIsRefusedTooThatIsTold) {
  take_n1(RolloutPhase::kCordoned);
  world_.now += minutes(21);
  refuse_n1("restore: the API server refuses it");
  EXPECT_THAT(plan_of("node/n1"), HasSubstr("jsonpatch Node/n1: restore: "));
  EXPECT_THAT(stalled(), HasSubstr("(restore: the API server refuses it)"));
}

TEST_F(Refused, AVerifiedNodeThatMayNotReturnIsToldAsStuck) {
  world_.claim("n1", "small");
  world_.add(
      on_its_way(n1(), layout_, names::kAllDisabled, RolloutPhase::kRollingBack, world_.now));
  world_.now += minutes(5);
  EXPECT_EQ(stalled(), "");
  refuse_n1("all-disabled is verified: uncordon");
  EXPECT_THAT(stalled(), AllOf(HasSubstr("WriteRefused"), HasSubstr("is verified: uncordon")));
  EXPECT_THAT(plan_of("node/n1"), HasSubstr("is verified: uncordon")) << "tried again";
}

TEST_F(Refused, ThePatienceWithAnAgentEndsThoughNoRetryIsLetThrough) {
  take_n1(RolloutPhase::kApplying);
  Node node = n1();
  node.meta.labels.set(names::kMigConfig, config_);
  node.meta.labels.set(names::kMigConfigState, "failed");
  world_.add(node);
  world_.now += minutes(29);
  refuse_n1("try again: mig-manager reports failed");
  EXPECT_THAT(plan_of("node/n1"), Not(HasSubstr("give up")));
  world_.now += minutes(1);
  refuse_n1("try again: mig-manager reports failed");
  EXPECT_THAT(plan_of("node/n1"), HasSubstr("give up: the API server refuses it (try again"));
}

TEST_F(Refused, WhatTheAgentsFileCannotHoldIsToldOfTheNodes) {
  layout_.spec.devices = {DeviceLayout{std::nullopt, {{"2g.20gb", 3}}}};
  world_.add(layout_);
  EXPECT_THAT(status(), HasSubstr("ConfigNotRendered"));
  const ConfigMap* file = world_.cluster.config_maps().find(world_.settings.agents_namespace,
                                                            world_.settings.mig_config_map);
  refuse(ref_of(*file), "render the MIGLayouts into the agents' file", 1, Verb::kMergePatch);
  EXPECT_THAT(stalled(), AllOf(HasSubstr("WriteRefused"), HasSubstr("berth-mig-parted-config"),
                               HasSubstr(kWords)));
}

TEST_F(Refused, SoAreTheLedgerAndTheLayoutItself) {
  const ConfigMap ledger = world_.ledger();
  refuse(ref_of(ledger), "claim for MIGLayout small", 1, Verb::kMergePatch);
  EXPECT_THAT(stalled(), AllOf(HasSubstr("WriteRefused"), HasSubstr("berth-node-slots")));
  world_.answers = Answers();
  EXPECT_EQ(stalled(), "");
  refuse(ref_of(layout_), "return its nodes before it is deleted", 1, Verb::kMergePatch);
  EXPECT_THAT(stalled(), AllOf(HasSubstr("WriteRefused"), HasSubstr("return its nodes")));
}

TEST_F(Refused, AForcedDeletionThatIsRefusedDoesNotKeepTheNodeOut) {
  layout_.spec.drain.on_timeout = OnTimeout::kForce;
  world_.add(layout_).add(pod("web").gpu(1).on("n1"));
  take_n1(RolloutPhase::kCordoned);
  world_.now += minutes(20);
  EXPECT_THAT(plan_of("node/n1"), HasSubstr("delete Pod/team-a/web"));
  refuse({"Pod", "team-a", "web", "uid-web"}, "force off node n1", 1, Verb::kDelete);
  EXPECT_THAT(plan_of("node/n1"), HasSubstr("restore: drain timed out: the API server refuses it"));
}

// --- Stalled and Reconciling ---

TEST_F(Refused, ANodeThatTheLayoutDoesNotFitDoesNotStallTheOthers) {
  world_.add(Node(node("n0").a100_80(4).label("tier", "mig").label(names::kMigStrategy, "weird")));
  EXPECT_EQ(stalled(), "");
  EXPECT_THAT(status(), HasSubstr(R"("type":"Reconciling","status":"True")"));
  EXPECT_THAT(status(), HasSubstr("InvalidLayout")) << "told all the same";
  for (const char* name : {"n1", "n2"})
    world_.add(Node(node(name).a100_80(4).label("tier", "other")));
  EXPECT_THAT(stalled(), HasSubstr("InvalidLayout"));
}

TEST_F(Refused, AFailedNodeDoesNotStallWhatIsStillOnItsWay) {
  layout_.spec.rollout.max_failures = 2;
  world_.add(layout_);
  take_n1(RolloutPhase::kApplying);
  Node failed = *world_.cluster.nodes().find("n2");
  failed = on_its_way(failed, layout_, config_, RolloutPhase::kFailed, world_.now);
  NodeRollout rollout = *read_rollout(failed).rollout;
  rollout.failed_config = config_;
  rollout.why = "it failed";
  failed.meta.annotations.set(names::kRolloutAnnotation, encode_rollout(rollout));
  world_.add(failed);
  EXPECT_EQ(stalled(), "");
  world_.add(Node(node("n1").a100_80(4).label("tier", "other")));
  free_slots();
  EXPECT_THAT(stalled(), HasSubstr("NodeFailed"));
}

// --- drains that were given up ---

struct GivenUp {
  const char* sentence;
  const char* cause;
  const char* bucket;
};

TEST_F(Refused, ADrainThatWasGivenUpSaysForWhomUntilItIsTriedAgain) {
  const GivenUp rows[] = {
      {"a budget is its owner's to relax", "PodDisruptionBudget", R"("blocked":1)"},
      {"a Job is waited for or told of", "JobRunning", R"("blocked":1)"},
      {"a pod that terminates is time's", "PodsLeaving", R"("pending":1)"},
      {"so is an agent at work", "AgentPending", R"("pending":1)"},
  };
  world_.add(Node(node("n2").a100_80(4).label("tier", "other")));
  for (const GivenUp& row : rows) {
    SCOPED_TRACE(row.sentence);
    NodeRollout idle;
    idle.seq = 1;
    idle.attempt = 1;
    idle.not_before = world_.now + minutes(5);
    idle.why = "drain timed out: pod team-a/web is what it waits for";
    idle.cause = row.cause;
    Node node = n1();
    node.meta.annotations.set(names::kRolloutAnnotation, encode_rollout(idle));
    world_.add(node);
    EXPECT_THAT(status(), AllOf(HasSubstr("BackingOff"), HasSubstr(row.bucket),
                                HasSubstr("given up 1 time, drain timed out: pod team-a/web"),
                                HasSubstr("tried again after 2026-11-21T12:05:00Z")));
  }
}

TEST_F(Refused, TheCauseOfADrainThatIsGivenUpIsWrittenDown) {
  world_.add(pod("web").gpu(1).on("n1").terminating());
  take_n1(RolloutPhase::kCordoned);
  world_.now += minutes(20);
  EXPECT_THAT(plan_of("node/n1"),
              AllOf(HasSubstr(R"(\"why\":\"drain timed out: pod team-a/web is terminating\")"),
                    HasSubstr(R"(\"cause\":\"PodsLeaving\")")));
}

}  // namespace
}  // namespace berth::test
