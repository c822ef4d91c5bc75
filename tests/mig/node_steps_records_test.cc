// SPDX-License-Identifier: Apache-2.0
// What each step writes into the node's record and its patch, and what it leaves unchanged.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "apis/base/reasons.h"
#include "controller/disruption/slots.h"
#include "controller/mig/reconcile.h"
#include "controller/mig/rollout_measures.h"
#include "tests/mig/one_node.h"

namespace berth::test {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;

struct NodeStepsRecords : OneNode {
  void set_slot(const Slot& slot) {
    ConfigMap ledger = world_.ledger();
    ledger.data["n1"] = encode_slot(slot);
    world_.add(ledger);
  }
  void answered(bool yes, Time at) {
    world_.answers.put("jsonpatch Node/n1 uid-n1 berth-mig", {.yes = yes, .at = at});
  }
  void set_record(NodeRollout rollout) {
    rollout.node_uid = "uid-n1";
    edit_node([&](Node& node) {
      node.meta.annotations.set(names::kRolloutAnnotation, encode_rollout(rollout));
    });
  }
  void keep_out() {
    NodeRollout rollout;
    rollout.since = world_.now;
    rollout.berth_cordoned = true;
    rollout.failed_config = "berth-gone-00000000";
    rollout.why = "it broke";
    edit_node([](Node& node) { node.unschedulable = true; });
    set_record(rollout);
  }
  void lose_record() {
    bring_to(RolloutPhase::kCordoned);
    Slot slot{"uid-n1", "MIGLayout/small", 1, 1, world_.now};
    slot.berth_cordoned = true;
    slot.lost = 1;
    slot.recall = world_.now;
    set_slot(slot);
    edit_node([](Node& node) { node.meta.annotations.erase(names::kRolloutAnnotation); });
  }
  std::string offline_plan() {
    Snapshot offline = world_.snapshot();
    offline.offline = true;
    return print(reconcile_node_rollout(offline, "n1"));
  }
};

TEST_F(NodeStepsRecords, EachPhaseBeginsWhenItIsWritten) {
  bring_to(RolloutPhase::kCordoned);
  world_.now += 2min;
  EXPECT_EQ(written().phase, RolloutPhase::kApplying);
  EXPECT_EQ(written().since, world_.now);
  uncordon();
  EXPECT_EQ(written().phase, RolloutPhase::kIdle);
  EXPECT_EQ(written().since, world_.now);

  bring_to(RolloutPhase::kApplying);
  label(names::kMigConfig, "theirs");
  world_.now += 1min;
  EXPECT_EQ(written().phase, RolloutPhase::kFailed);
  EXPECT_EQ(written().since, world_.now);
  EXPECT_THAT(written().why, StartsWith("nvidia.com/mig.config was changed to \"theirs\""));
  EXPECT_EQ(written().taken, world_.now - 1min) << "but it was taken when it was";
  cut();
  edit_record([&](NodeRollout& r) { r.not_before = world_.now + 1h; });
  world_.now += 1min;
  EXPECT_EQ(written().phase, RolloutPhase::kIdle);
  EXPECT_EQ(written().not_before, std::nullopt);
  lose_record();
  world_.now += 1min;
  EXPECT_EQ(written().since, world_.now);
}

TEST_F(NodeStepsRecords, TheWayOnIsTheOwnersWhoeverTookTheNode) {
  bring_to(RolloutPhase::kApplying);
  edit_record([](NodeRollout& r) {
    r.layout = "former";
    r.layout_uid = "uid-former";
  });
  cut();
  ask_for_another();
  EXPECT_EQ(written().config, other_config_);
  EXPECT_EQ(written().layout, "small");
  EXPECT_EQ(written().layout_uid, "uid-small");
  edit_record([](NodeRollout& r) { r.berth_cordoned = false; });
  uncordon();
  EXPECT_THAT(plan(), Not(HasSubstr("continue with"))) << "nothing is cut in service";
  label("tier", "other");
  EXPECT_THAT(plan(), Not(HasSubstr("continue with"))) << "nobody asks for anything";
}

TEST_F(NodeStepsRecords, WhatHasFailedOnANodeIsNotTriedThereAgain) {
  edit_layout([](MIGLayout& l) { l.spec.rollout.max_failures = 5; });
  bring_to(RolloutPhase::kFailed);
  ask_for_another();
  EXPECT_THAT(plan(), HasSubstr("continue with"));
  edit_record([&](NodeRollout& r) { r.failed_config = other_config_; });
  EXPECT_THAT(plan(), Not(HasSubstr("continue with")));
}

TEST_F(NodeStepsRecords, AVerifiedNodeReturnsThoughALaterWriteOfItWasRefused) {
  bring_to(RolloutPhase::kApplying);
  cut();
  const Step step = Write{.verb = Verb::kJsonPatch,
                          .object = ref_of(n1()),
                          .body = {},
                          .field_manager = names::kManagerMig};
  const auto refuse = [&] {
    world_.answers.put(
        question(step),
        {.yes = false,
         .error = {.kind = ErrorKind::kInvalid, .message = "no", .where = {}, .http_code = 422},
         .against = {},
         .at = world_.now,
         .object = "Node/n1",
         .field_manager = names::kManagerMig,
         .reason = "uncordon"});
  };
  world_.now += 31min;
  refuse();
  EXPECT_THAT(plan(), HasSubstr("is verified: uncordon"));
  cut();
  edit_node([](Node& node) { node.allocatable.set("nvidia.com/mig-1g.10gb", Quantity::whole(1)); });
  cut();
  EXPECT_EQ(plan(), "requeue in 30000ms\n") << "or is watched first";
  state("pending");
  EXPECT_THAT(plan(), HasSubstr("give up: the API server refuses it"));
}

TEST_F(NodeStepsRecords, WhoUncordonsANodeThatIsCutIsTold) {
  bring_to(RolloutPhase::kApplying);
  uncordon();
  EXPECT_FALSE(written().berth_cordoned);
  EXPECT_THAT(plan(), HasSubstr("event Warning Node/n1 UncordonedByHand: uncordoned by hand while "
                                "its GPUs are being repartitioned"));
}

TEST_F(NodeStepsRecords, PausedOperandsOfNvidiasAreResumedWithTheLabelAndWhenItIsGivenUp) {
  bring_to(RolloutPhase::kCordoned);
  label("nvidia.com/gpu.deploy.dcgm", names::kPausedForMigChange);
  world_.now += 2min;
  const std::string resumed =
      R"({"op":"test","path":"/metadata/labels/nvidia.com~1gpu.deploy.dcgm","value":)"
      R"("paused-for-mig-change"},{"op":"add","path":"/metadata/labels/nvidia.com~1gpu.deploy.dcgm")"
      R"(,"value":"true"})";
  EXPECT_THAT(plan(), HasSubstr(resumed));
  bring_to(RolloutPhase::kApplying);
  state("pending");
  edit_record([](NodeRollout& r) { r.attempt = 2; });
  world_.now += 30min;
  EXPECT_THAT(plan(), AllOf(HasSubstr("give up"), HasSubstr(resumed)));
}

TEST_F(NodeStepsRecords, ThePatchTouchesWhatStandsAndNothingElse) {
  bring_to(RolloutPhase::kCordoned);
  world_.now += 2min;
  const std::string removal =
      R"({"op":"remove","path":"/metadata/labels/nvidia.com~1mig.config.state"})";
  EXPECT_THAT(plan(), HasSubstr(removal));
  edit_node([](Node& node) { node.meta.labels.erase(names::kMigConfigState); });
  EXPECT_THAT(plan(), AllOf(HasSubstr("apply"), Not(HasSubstr(removal))));
  uncordon();
  EXPECT_THAT(plan(),
              HasSubstr(R"({"op":"test","path":"/metadata/annotations/gpu.berth.dev~1hold",)"
                        R"("value":null},{"op":"add","path":"/metadata/annotations/)"
                        R"(gpu.berth.dev~1hold","value":"uncordoned by hand)"));
  for (const ObjectSteps& object : world_.plan("node/n1").objects)
    for (const Step& step : object.steps)
      EXPECT_EQ(std::get<Write>(step).field_manager, names::kManagerMig);
}

TEST_F(NodeStepsRecords, WhatIsMeasuredGoesWithTheWrite) {
  bring_to(RolloutPhase::kCordoned);
  world_.now += 2min;
  const std::vector<Observation> seen = world_.plan("node/n1").observations;
  ASSERT_THAT(seen, SizeIs(1));
  EXPECT_EQ(seen[0].measure, &kRolloutPhaseSeconds);
  EXPECT_EQ(seen[0].value, 120);
  world_.add(test::node("n1").a100_80(4).label("tier", "mig"));
  world_.claim("n1", "small");
  EXPECT_THAT(world_.plan("node/n1").observations, IsEmpty());
}

// --- claims ---

TEST_F(NodeStepsRecords, ACordonOfBerthsThatStandsStaysBerths) {
  keep_out();
  set_slot({"uid-n1", "MIGLayout/small", 1, 1, world_.now});
  EXPECT_TRUE(written().berth_cordoned);
  EXPECT_EQ(written().failed_config, "berth-gone-00000000");
  uncordon();
  EXPECT_TRUE(written().berth_cordoned) << "by this cordon";
  EXPECT_EQ(written().failed_config + written().why, "") << "somebody has found it in order";
}

TEST_F(NodeStepsRecords, OfflineAClaimIsTakenUpWhateverItsEpoch) {
  set_slot({"uid-n1", "MIGLayout/small", 1, 3, world_.now});
  EXPECT_THAT(offline_plan(), HasSubstr("cordon for MIGLayout small"));
  bring_to(RolloutPhase::kCordoned);
  world_.now += 5s;
  EXPECT_THAT(offline_plan(), HasSubstr("apply " + config_)) << "nobody is asked for the cordon";
}

TEST_F(NodeStepsRecords, AClaimThatIsGivenBackHasItsNumbers) {
  set_slot({"uid-n1", "MIGLayout/small", 1, 1, world_.now});
  hold();
  EXPECT_EQ(written().seq, 1);
  EXPECT_EQ(written().epoch, 1);
}

TEST_F(NodeStepsRecords, AnOldClaimIsDroppedOnlyWhereTheNodeHasNoRecord) {
  NodeRollout idle;
  idle.since = world_.now;
  set_record(idle);
  world_.claim("n1", "small");
  world_.now += 2min;
  EXPECT_THAT(plan(), HasSubstr("cordon for MIGLayout small"));
}

TEST_F(NodeStepsRecords, AClaimIsTakenUpUnlessItsCordonMayJustHaveGoneThrough) {
  world_.claim("n1", "small");
  answered(true, world_.now);
  EXPECT_THAT(plan(), HasSubstr("cordon for")) << "it did not: the node is in service";
  edit_node([](Node& node) { node.unschedulable = true; });
  EXPECT_EQ(plan(), "requeue in 30000ms\n");
  answered(true, world_.now - 1s);
  EXPECT_THAT(plan(), HasSubstr("cordon for")) << "a write of before the claim";
  answered(false, world_.now);
  EXPECT_THAT(plan(), HasSubstr("cordon for")) << "one that failed";
}

TEST_F(NodeStepsRecords, ACordonThatFailedDoesNotStand) {
  bring_to(RolloutPhase::kCordoned);
  answered(false, world_.now);
  world_.now += 5s;
  EXPECT_THAT(plan(), HasSubstr("guard Node/n1: is the node still cordoned?"));
  world_.add(test::node("spare").a100_80(4)).add(pod("web").gpu(1).on("n1"));
  EXPECT_THAT(plan(), Not(HasSubstr("guard"))) << "nor is it asked after while pods are there";
}

TEST_F(NodeStepsRecords, AnObstacleIsToldBeforeWhatTheAgentOrItsFileLack) {
  bring_to(RolloutPhase::kCordoned);
  label(names::kDeployMigManager, "false");
  state("pending");
  world_.now += 20min;
  EXPECT_EQ(written().cause, "MigManagerMissing");
  state("success");
  ConfigMap file = *world_.cluster.config_maps().find(world_.settings.agents_namespace,
                                                      world_.settings.mig_config_map);
  file.data[names::kMigPartedKey] = "version: v1\nmig-configs:\n  x:\n";
  world_.add(file);
  EXPECT_EQ(written().cause, "MigManagerMissing");
  label(names::kDeployMigManager, "true");
  state("pending");
  EXPECT_EQ(written().cause, "AgentPending");
}

TEST_F(NodeStepsRecords, WhatFailedElsewhereIsNoFailureOfTheNextConfig) {
  bring_to(RolloutPhase::kCordoned);
  edit_record([](NodeRollout& r) { r.failed_config = "berth-gone-00000000"; });
  world_.now += 2min;
  EXPECT_EQ(written().phase, RolloutPhase::kApplying);
  EXPECT_EQ(written().failed_config, "");
}

// --- lost records, and nodes kept out of service ---

TEST_F(NodeStepsRecords, ALostRecordOfANodeThatNobodyWantsIsThatOfACordonedOne) {
  lose_record();
  label("tier", "other");
  EXPECT_EQ(written().phase, RolloutPhase::kCordoned);
  EXPECT_EQ(written().config, "all-disabled");
  label("tier", "mig");
  label(names::kMigStrategy, "weird");
  EXPECT_EQ(written().phase, RolloutPhase::kCordoned);
  EXPECT_EQ(written().config, "all-disabled");
}

TEST_F(NodeStepsRecords, ALabelThatIsWhatTheLayoutAsksForWasWrittenByBerth) {
  edit_layout([&](MIGLayout& l) {
    l.meta.deletion_timestamp = world_.now;
    l.spec.deletion_policy = DeletionPolicy::kDisableMIG;
  });
  lose_record();
  EXPECT_EQ(written().phase, RolloutPhase::kApplying);
  EXPECT_EQ(written().config, "all-disabled");
}

TEST_F(NodeStepsRecords, ANodeKeptOutReturnsOnceItIsRightAndNobodyElseHasIt) {
  keep_out();
  EXPECT_EQ(plan(), "") << "its GPUs are not right";
  cut();
  EXPECT_EQ(plan(), "requeue in 30000ms\n");
  world_.now += 30s;
  const Node right = n1();
  EXPECT_THAT(plan(), AllOf(HasSubstr(config_ + " is verified: uncordon"),
                            HasSubstr("event Normal Node/n1 Returned: " + config_ +
                                      " is in force; "
                                      "the node was unavailable because a change of its GPUs had "
                                      "failed: it broke")));
  EXPECT_FALSE(written().berth_cordoned);
  EXPECT_EQ(written().failed_config, "berth-gone-00000000");
  hold();
  EXPECT_EQ(plan(), "");
  world_.add(right);
  label(names::kDriverUpgradeState, "drain-required");
  EXPECT_EQ(plan(), "");
  world_.add(right);
  uncordon();
  EXPECT_THAT(world_.plan("node/n1").objects, SizeIs(1));
  EXPECT_THAT(world_.plan("node/n1").objects[0].steps, SizeIs(2))
      << "its GPUs are noted, and that its cordon is no longer berth's: that is all";
}

TEST_F(NodeStepsRecords, TheRulesOfANodeThatNobodyWantsAreThoseOfWhoTookIt) {
  bring_to(RolloutPhase::kApplying);
  edit_layout([](MIGLayout& l) { l.spec.rollout.progress_deadline = 5min; });
  label("tier", "other");
  state("pending");
  EXPECT_EQ(plan(), "requeue in 300000ms\n");
  world_.cluster.erase<MIGLayout>("", "small");
  EXPECT_EQ(plan(), "requeue in 1800000ms\n") << "else the usual ones";
}

TEST_F(NodeStepsRecords, AClaimOfASequenceThatIsPastIsNone) {
  NodeRollout idle;
  idle.seq = 1;
  idle.since = world_.now;
  set_record(idle);
  world_.claim("n1", "small");
  EXPECT_EQ(plan(), "");
}

}  // namespace
}  // namespace berth::test
