// SPDX-License-Identifier: Apache-2.0
// Until the label is written: what happens to a claimed or cordoned node when something changes.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <functional>

#include "apis/base/reasons.h"
#include "controller/disruption/slots.h"
#include "tests/mig/one_node.h"

namespace berth::test {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

struct NodeStepsTaken : OneNode {
  void set_slot(const Slot& slot) {
    ConfigMap ledger = world_.ledger();
    ledger.data["n1"] = encode_slot(slot);
    world_.add(ledger);
  }
  void set_epoch(const char* epoch) {
    ConfigMap ledger = world_.ledger();
    ledger.meta.annotations.set(names::kEpochAnnotation, epoch);
    world_.add(ledger);
  }
  // Cordoned long enough ago that no binding is in flight.
  void drained() {
    bring_to(RolloutPhase::kCordoned);
    world_.now += 2min;
  }
};

// --- claimed ---

TEST_F(NodeStepsTaken, AClaimIsGivenBackWhereItsNodeMayNotBeTakenAnyMore) {
  struct Case {
    const char* sentence;
    std::function<void()> stands;
    const char* why;
  };
  for (const Case& c : {
           Case{"its number has moved on",
                [&] {
                  set_slot({"uid-n1", "MIGLayout/small", 2, 1, world_.now});
                },
                "its sequence number has moved on"},
           Case{"nobody wants it", [&] { label("tier", "other"); },
                "no MIGLayout selects the node any more"},
           Case{"the layout is paused",
                [&] { edit_layout([](MIGLayout& l) { l.spec.rollout.paused = true; }); },
                "MIGLayout small is paused"},
           Case{"the layout is not valid", [&] { break_rules(); }, "MIGLayout small is not valid"},
           Case{"it does not fit", [&] { label(names::kMigStrategy, "weird"); },
                "MIGLayout small can't be laid out here: label nvidia.com/mig.strategy=weird"},
           Case{"its GPUs are right", [&] { cut(); }, "the node has what the layout asks for"},
           Case{"another layout owns it",
                [&] {
                  set_slot({"uid-n1", "MIGLayout/large", 1, 1, world_.now});
                },
                "another MIGLayout owns the node now"},
           Case{"the layout is halted", [&] { halt(config_); },
                "MIGLayout small is halted by a failed node"},
           Case{"that config has failed here before",
                [&] {
                  NodeRollout before;
                  before.failed_config = config_;
                  edit_layout([](MIGLayout& l) { l.spec.rollout.max_failures = 2; });
                  edit_node([&](Node& node) {
                    node.meta.annotations.set(names::kRolloutAnnotation, encode_rollout(before));
                  });
                },
                "this config has failed on the node"},
           Case{"it is held", [&] { hold(); }, "it is held by annotation gpu.berth.dev/hold"},
           Case{"it is not Ready", [&] { edit_node([](Node& n) { n.ready = false; }); },
                "the node is not Ready"},
           Case{"the agent does not read berth's file", [&] { take_agents_file_away(); },
                "set spec.migManager.config.name"},
       }) {
    SCOPED_TRACE(c.sentence);
    const DaemonSet agent = **world_.cluster.daemon_sets().begin();
    world_.add(test::node("n1").a100_80(4).label("tier", "mig")).add(layout_);
    world_.claim("n1", "small");
    EXPECT_THAT(plan(), HasSubstr("cordon for MIGLayout small"));
    c.stands();
    const std::int64_t seq = read_ledger(world_.snapshot()).find("n1")->seq;
    EXPECT_THAT(plan(), AllOf(HasSubstr(std::string("give the slot back: ") + c.why),
                              HasSubstr(fmt::format(R"(\"seq\":{})", seq)),
                              HasSubstr(R"(\"phase\":\"Idle\")"), Not(HasSubstr("unschedulable")),
                              Not(HasSubstr("notBefore"))));
    world_.add(agent);
    stop_halting();
  }
}

TEST_F(NodeStepsTaken, AClaimOfAnotherLeadersIsLeftToAYoungerOneAndTakenFromAnOlder) {
  world_.claim("n1", "small");
  set_epoch("2");
  world_.epoch = 2;
  EXPECT_THAT(plan(), HasSubstr("give the slot back: it was claimed by a former leader"));
  set_slot({"uid-n1", "MIGLayout/small", 1, 3, world_.now});
  EXPECT_EQ(plan(), "") << "its leader is another by now";
}

TEST_F(NodeStepsTaken, TheSlotOfAnotherHolderOrOfANodeOfThatNameIsNoClaim) {
  set_slot({"uid-n1", "GPUClusterPolicy/cluster", 1, 1, world_.now});
  EXPECT_EQ(plan(), "");
  set_slot({"uid-before", "MIGLayout/small", 1, 1, world_.now});
  EXPECT_EQ(plan(), "");
}

TEST_F(NodeStepsTaken, TheCordonRemembersWhoseItIs) {
  world_.claim("n1", "small");
  EXPECT_THAT(plan(), AllOf(HasSubstr(R"(\"berthCordoned\":true)"),
                            HasSubstr("event Normal Node/n1 Cordoned: cordoned for MIGLayout")));
  edit_node([](Node& node) { node.unschedulable = true; });
  EXPECT_THAT(plan(), AllOf(HasSubstr(R"(\"berthCordoned\":false)"),
                            HasSubstr("Cordoned: taken, already cordoned, for MIGLayout small")));
}

TEST_F(NodeStepsTaken, WhatALabelWasSetBackForIsCounted) {
  NodeRollout before;
  before.config = config_;
  before.reasserts = 1;
  before.failed_config = "berth-small-00000000";
  before.why = before.cause = "old";
  before.not_before = world_.now - 1min;
  before.since = world_.now;
  edit_node([&](Node& node) {
    node.meta.annotations.set(names::kRolloutAnnotation, encode_rollout(before));
  });
  world_.claim("n1", "small");
  NodeRollout taken = written();
  EXPECT_EQ(taken.reasserts, 2);
  EXPECT_EQ(taken.failed_config + taken.why + taken.cause, "");
  EXPECT_EQ(taken.not_before, std::nullopt);
  ask_for_another();
  EXPECT_EQ(written().reasserts, 0);
}

// --- cordoned ---

TEST_F(NodeStepsTaken, ANodeThatSomebodyUncordonsIsTheirsUntilTheyTakeTheHoldAway) {
  bring_to(RolloutPhase::kCordoned);
  uncordon();
  EXPECT_THAT(
      plan(),
      AllOf(
          HasSubstr("the node was uncordoned by hand: hold its rollout"),
          HasSubstr(
              R"("path":"/metadata/annotations/gpu.berth.dev~1hold","value":"uncordoned by hand)"),
          HasSubstr(R"(\"phase\":\"Idle\")"), HasSubstr(R"(\"config\":\"all-disabled\")"),
          HasSubstr(R"(\"berthCordoned\":false)"),
          HasSubstr(R"({"op":"test","path":"/spec/unschedulable","value":null})"),
          HasSubstr("event Warning Node/n1 UncordonedByHand")));
  hold();
  EXPECT_THAT(plan(), AllOf(HasSubstr("hold its rollout"), Not(HasSubstr("~1hold"))))
      << "theirs stands";
}

TEST_F(NodeStepsTaken, WhileItIsHeldOrInOthersHandsNothingIsDone) {
  drained();
  const Node node = n1();
  EXPECT_THAT(plan(), HasSubstr("apply " + config_));
  hold();
  EXPECT_EQ(plan(), "");
  world_.add(node);
  label(names::kDriverUpgradeState, "drain-required");
  EXPECT_EQ(plan(), "");
}

TEST_F(NodeStepsTaken, ItIsPutBackWhereTheLayoutWantsItNoMore) {
  drained();
  label("tier", "other");
  EXPECT_THAT(plan(),
              AllOf(HasSubstr("restore: no MIGLayout selects the node any more"),
                    HasSubstr(R"({"op":"remove","path":"/spec/unschedulable"})"),
                    HasSubstr(R"(\"phase\":\"Idle\")"), HasSubstr(R"(\"berthCordoned\":false)"),
                    HasSubstr(R"(\"config\":\"all-disabled\")"), Not(HasSubstr("notBefore")),
                    HasSubstr("event Normal Node/n1 Restored: uncordoned without a change: no")));
  edit_record([](NodeRollout& r) { r.berth_cordoned = false; });
  EXPECT_THAT(plan(), AllOf(Not(HasSubstr("unschedulable")),
                            HasSubstr("Restored: left cordoned, as berth found it, without")));
  label("tier", "mig");
  take_agents_file_away();
  EXPECT_THAT(plan(), HasSubstr("restore: set spec.migManager.config.name"));
}

TEST_F(NodeStepsTaken, ADrainThatIsGivenUpIsTriedAgainLaterAndLater) {
  world_.add(pod("web").gpu(1).on("n1").terminating());
  bring_to(RolloutPhase::kCordoned);
  world_.now += 20min;
  struct Case {
    int attempt, minutes;
  };
  for (const Case& c : {Case{0, 5}, Case{1, 10}, Case{2, 20}, Case{3, 40}, Case{4, 80}, Case{5, 80},
                        Case{40, 80}}) {
    SCOPED_TRACE(c.attempt);
    edit_record([&](NodeRollout& r) { r.attempt = c.attempt; });
    const std::string at = format_time(world_.now + std::chrono::minutes(c.minutes));
    EXPECT_THAT(plan(), AllOf(HasSubstr("restore: drain timed out: pod team-a/web is terminating"),
                              HasSubstr(R"(\"notBefore\":\")" + at.substr(0, at.size() - 1)),
                              HasSubstr(fmt::format(R"(\"attempt\":{})", c.attempt + 1)),
                              HasSubstr("event Warning Node/n1 Restored"),
                              HasSubstr("; tried again after " + at)));
  }
}

TEST_F(NodeStepsTaken, OneThatFailedBeforeIsNoBetterThanItWas) {
  drained();
  edit_record([](NodeRollout& r) { r.failed_config = "berth-small-00000000"; });
  label("tier", "other");
  EXPECT_THAT(plan(), AllOf(HasSubstr("give up: no MIGLayout selects"),
                            HasSubstr(R"(\"phase\":\"Failed\")"),
                            HasSubstr(R"(\"config\":\"berth-small-00000000\")"),
                            HasSubstr(R"(\"failedConfig\":\"berth-small-00000000\")"),
                            Not(HasSubstr("unschedulable"))));
}

TEST_F(NodeStepsTaken, NobodyIsEvictedForTheSakeOfALabel) {
  world_.add(test::node("spare").a100_80(4)).add(pod("web").gpu(1).on("n1"));
  bring_to(RolloutPhase::kCordoned);
  EXPECT_THAT(plan(), HasSubstr("evict Pod/team-a/web"));
  edit_record([](NodeRollout& r) { r.reasserts = 1; });
  EXPECT_THAT(plan(), AllOf(HasSubstr("restore: its GPUs are in use, and only the label differs"),
                            HasSubstr(R"(\"config\":\")" + config_), Not(HasSubstr("evict"))));
  world_.cluster.erase<Pod>("team-a", "web");
  world_.now += 2min;
  EXPECT_THAT(plan(), HasSubstr("apply " + config_));
}

TEST_F(NodeStepsTaken, AnEmptyNodeWaitsForWhatIsMissingAndAtLastIsPutBack) {
  struct Case {
    const char* sentence;
    std::function<void()> stands;
    const char* why;
    const char* cause;
  };
  for (const Case& c : {
           Case{"mig-manager does not run", [&] { label(names::kDeployMigManager, "false"); },
                "mig-manager does not run here", "MigManagerMissing"},
           Case{"it is at work", [&] { state("pending"); },
                "mig-manager is still applying all-disabled (state pending)", "AgentPending"},
           Case{"the node reboots", [&] { state("rebooting"); },
                "mig-manager is still applying all-disabled (state rebooting)", "AgentPending"},
           Case{"the file lacks the config",
                [&] {
                  ConfigMap file = *world_.cluster.config_maps().find(
                      world_.settings.agents_namespace, world_.settings.mig_config_map);
                  file.data[names::kMigPartedKey] = "version: v1\nmig-configs:\n  x:\n";
                  world_.add(file);
                },
                "does not hold", "ConfigNotRendered"},
       }) {
    SCOPED_TRACE(c.sentence);
    const ConfigMap file = *world_.cluster.config_maps().find(world_.settings.agents_namespace,
                                                              world_.settings.mig_config_map);
    const Time start = world_.now;
    world_.add(test::node("n1").a100_80(4).label("tier", "mig"));
    bring_to(RolloutPhase::kCordoned);
    world_.now = start + 20min - 1ms;
    EXPECT_THAT(plan(), HasSubstr("apply " + config_));
    c.stands();
    EXPECT_EQ(plan(), "requeue in 1ms\n");
    world_.now += 1ms;
    EXPECT_THAT(plan(), AllOf(HasSubstr("restore: "), HasSubstr(c.why),
                              HasSubstr(fmt::format(R"(\"cause\":\"{}\")", c.cause))));
    world_.add(file);
  }
}

TEST_F(NodeStepsTaken, TheLabelIsWrittenWithWhatTheLayoutAsksForNow) {
  drained();
  edit_record([](NodeRollout& r) {
    r.config = "berth-former-00000000";
    r.layout = "former";
    r.layout_uid = "uid-former";
    r.attempt = 3;
  });
  EXPECT_THAT(
      plan(),
      AllOf(HasSubstr("apply " + config_), HasSubstr(R"(\"config\":\")" + config_),
            HasSubstr(R"(\"layout\":\"small\")"), HasSubstr(R"(\"layoutUID\":\"uid-small\")"),
            HasSubstr(R"(\"attempt\":0)"), Not(HasSubstr("failedConfig")),
            HasSubstr("event Normal Node/n1 Repartitioning: nvidia.com/mig.config=" + config_ +
                      " (apply " + config_ + ")")));
}

// --- what was lost ---

TEST_F(NodeStepsTaken, AnAnnotationThatCannotBeReadIsReplacedOnlyWhereANodeIsClaimed) {
  edit_node([](Node& node) { node.meta.annotations.set(names::kRolloutAnnotation, "{junk"); });
  EXPECT_EQ(plan(), "") << "nothing is under way";
  world_.claim("n1", "small");
  EXPECT_THAT(plan(),
              AllOf(HasSubstr("replace annotation gpu.berth.dev/mig-rollout, which berth "
                              "can't read"),
                    HasSubstr(R"(\"seq\":1,\"epoch\":1)"), HasSubstr(R"(\"phase\":\"Idle\")"),
                    HasSubstr("event Warning Node/n1 RolloutForgotten: annotation "
                              "gpu.berth.dev/mig-rollout was overwritten by somebody")));
}

TEST_F(NodeStepsTaken, ALostRecordGoesOnFromWhatTheLedgerAndTheLabelTell) {
  bring_to(RolloutPhase::kCordoned);
  Slot slot = *read_ledger(world_.snapshot()).find("n1");
  slot.berth_cordoned = false;
  slot.lost = 3;
  slot.recall = world_.now;
  set_slot(slot);
  edit_node([](Node& node) { node.meta.annotations.erase(names::kRolloutAnnotation); });
  EXPECT_THAT(plan(), AllOf(HasSubstr(R"(\"seq\":1,\"epoch\":1)"),
                            HasSubstr(R"(\"layoutUID\":\"uid-small\",\"layout\":\"small\")"),
                            HasSubstr(R"(\"config\":\")" + config_),
                            HasSubstr(R"(\"previous\":\"all-disabled\")"),
                            HasSubstr(R"(\"berthCordoned\":false)"),
                            HasSubstr(R"(\"taken\":\"2026-11-21T12:00:00.000000Z\")"),
                            HasSubstr("removed or overwritten by somebody, 3 times so far; berth "
                                      "continues from its ledger")));
  label(names::kMigConfig, "berth-small-00000000-r1");
  EXPECT_THAT(plan(), AllOf(HasSubstr(R"(\"phase\":\"Applying\")"),
                            HasSubstr(R"(\"config\":\"berth-small-00000000\")")))
      << "a former config of the layout's was written";
  label(names::kMigConfig, "berth-smaller-00000000");
  EXPECT_THAT(plan(), HasSubstr(R"(\"phase\":\"Cordoned\")")) << "another layout's was not";
  slot.recall = world_.now + 5s;
  set_slot(slot);
  EXPECT_EQ(plan(), "requeue in 5000ms\n");
  slot.recall = world_.now;
  slot.lost = 1;
  set_slot(slot);
  uncordon();
  EXPECT_THAT(plan(), HasSubstr("somebody, once so far; the node is back in service and released"));
}

}  // namespace
}  // namespace berth::test
