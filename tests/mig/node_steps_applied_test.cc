// SPDX-License-Identifier: Apache-2.0
// Once the label is written: the next step for each action of mig-manager, a user or the layout.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <functional>

#include "apis/base/reasons.h"
#include "tests/mig/one_node.h"

namespace berth::test {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

struct NodeStepsApplied : OneNode {
  // Long after mig-manager can have read the file.
  NodeStepsApplied() {
    world_.now += 2min;
    bring_to(RolloutPhase::kApplying);
  }
};

// --- the layout now asks for something else ---

TEST_F(NodeStepsApplied, ANodeThatIsCutOrFailedGoesOnToWhatTheLayoutAsksForNow) {
  struct Case {
    const char* sentence;
    std::function<void()> stands;
    bool goes_on;
  };
  const auto failed = [&] {
    bring_to(RolloutPhase::kFailed);
    edit_record([&](NodeRollout& r) { r.failed_config = config_; });
  };
  for (const Case& c : {
           Case{"verified", [&] { cut(); }, true},
           Case{"a device is missing",
                [&] {
                  cut();
                  edit_node([](Node& node) {
                    node.allocatable.set("nvidia.com/mig-1g.10gb", Quantity::whole(27));
                  });
                },
                true},
           Case{"the agent failed", [&] { state("failed"); }, true},
           Case{"given up", failed, true},
           Case{"the agent is at work", [&] { state("pending"); }, false},
           Case{"somebody wrote another label", [&] { label(names::kMigConfig, "theirs"); }, false},
           Case{"going back",
                [&] { edit_record([](NodeRollout& r) { r.phase = RolloutPhase::kRollingBack; }); },
                false},
       }) {
    SCOPED_TRACE(c.sentence);
    world_.add(test::node("n1").a100_80(4).label("tier", "mig"));
    world_.add(layout_);
    bring_to(RolloutPhase::kApplying);
    c.stands();
    world_.now += 5min;
    ask_for_another();
    const std::string planned = plan();
    if (c.goes_on)
      EXPECT_THAT(
          planned,
          AllOf(HasSubstr("continue with " + other_config_), HasSubstr(R"(\"phase\":\"Cordoned\")"),
                HasSubstr(R"(\"config\":\")" + other_config_),
                HasSubstr(R"(\"since\":\"2026-11-21T12:)"), Not(HasSubstr("unschedulable"))));
    else
      EXPECT_THAT(planned, Not(HasSubstr("continue with")));
  }
}

TEST_F(NodeStepsApplied, ItStaysWhereSomethingSpeaksAgainstAnotherCut) {
  struct Case {
    const char* sentence;
    std::function<void()> stands;
  };
  for (const Case& c : {
           Case{"nothing does", [] {}},
           Case{"the layout is paused",
                [&] { edit_layout([](MIGLayout& l) { l.spec.rollout.paused = true; }); }},
           Case{"the node is held", [&] { hold(); }},
           Case{"that config has failed here before",
                [&] { edit_record([&](NodeRollout& r) { r.failed_config = other_config_; }); }},
           Case{"the layout is not valid", [&] { break_rules(); }},
           Case{"the agent does not read berth's file", [&] { take_agents_file_away(); }},
           Case{"the layout is halted", [&] { halt(other_config_); }},
           Case{"no layout wants it", [&] { label("tier", "other"); }},
           Case{"the layout does not fit it", [&] { label(names::kMigStrategy, "none"); }},
       }) {
    SCOPED_TRACE(c.sentence);
    const DaemonSet agent = **world_.cluster.daemon_sets().begin();
    world_.add(test::node("n1").a100_80(4).label("tier", "mig"));
    world_.add(layout_);
    bring_to(RolloutPhase::kFailed);
    edit_record([&](NodeRollout& r) { r.failed_config = config_; });
    ask_for_another();
    c.stands();
    EXPECT_EQ(plan().find("continue with") != std::string::npos,
              std::string_view(c.sentence) == "nothing does");
    world_.add(agent);
    stop_halting();
  }
}

TEST_F(NodeStepsApplied, WhatFailedIsRememberedOnTheWayToAnother) {
  bring_to(RolloutPhase::kFailed);
  edit_record([&](NodeRollout& r) {
    r.failed_config = config_;
    r.attempt = 2;
  });
  ask_for_another();
  EXPECT_THAT(plan(), AllOf(HasSubstr(R"(\"failedConfig\":\")" + config_),
                            HasSubstr(R"(\"attempt\":0)"), HasSubstr(R"(\"layout\":\"small\")"),
                            HasSubstr(R"(\"layoutUID\":\"uid-small\")")));
  bring_to(RolloutPhase::kApplying);
  edit_record([&](NodeRollout& r) { r.failed_config = "berth-small-00000000"; });
  state("failed");
  EXPECT_EQ(written().config, other_config_);
  EXPECT_EQ(written().failed_config, "") << "of one that has not failed there is nothing to keep";
}

// --- mig-manager ---

TEST_F(NodeStepsApplied, AFailedAgentIsTriedAgainTwiceEachTimeLater) {
  state("failed");
  EXPECT_THAT(plan(), AllOf(HasSubstr("try again after 2026-11-21T12:02:30Z: mig-manager reports"),
                            HasSubstr(R"(\"notBefore\":\"2026-11-21T12:02:30.000000Z\")"),
                            HasSubstr("Warning Node/n1 AgentFailed"), Not(HasSubstr("guard"))));
  edit_record([&](NodeRollout& r) { r.not_before = world_.now + 30s; });
  EXPECT_EQ(plan(), "requeue in 30000ms\n");
  world_.now += 30s;
  EXPECT_THAT(plan(), AllOf(HasSubstr("guard Node/n1"), HasSubstr("try again: mig-manager reports"),
                            HasSubstr(R"(mig.config","value":")" + config_ + "-r1"),
                            HasSubstr(R"(\"attempt\":1,\"reasserts\")"),
                            HasSubstr(fmt::format(R"(\"since\":\"{})", "2026-11-21T12:02:30")),
                            HasSubstr("event Warning Node/n1 Retrying")));
  edit_record([&](NodeRollout& r) {
    r.attempt = 1;
    r.not_before.reset();
  });
  EXPECT_THAT(plan(), HasSubstr("try again after 2026-11-21T12:03:30Z")) << "twice as long";
  edit_record([&](NodeRollout& r) { r.attempt = 2; });
  EXPECT_THAT(plan(),
              AllOf(HasSubstr("give up: mig-manager reports failed"),
                    HasSubstr(R"(\"failedConfig\":\")" + config_),
                    HasSubstr(R"(\"phase\":\"Failed\")"), HasSubstr("the node stays cordoned")));
}

TEST_F(NodeStepsApplied, AFailureIsNotBelievedBeforeTheAgentCanHaveReadTheFile) {
  world_.now -= 2min;
  bring_to(RolloutPhase::kApplying);
  state("failed");
  world_.now += 89s;
  EXPECT_EQ(plan(), "requeue in 1000ms\n");
  world_.now += 1s;
  EXPECT_THAT(plan(), AllOf(HasSubstr("try again: the agent may not have known the config yet"),
                            HasSubstr(R"(\"attempt\":0)")));
  edit_record([&](NodeRollout& r) { r.since = world_.now; });
  EXPECT_THAT(plan(), HasSubstr("try again after")) << "one that was told after that counts";
}

TEST_F(NodeStepsApplied, AnAgentThatHangsIsSetGoingOnceMore) {
  state("pending");
  world_.now += 30min - 1ms;
  EXPECT_EQ(plan(), "requeue in 1ms\n");
  world_.now += 1ms;
  EXPECT_THAT(plan(), AllOf(HasSubstr("try again: not done within 30m: mig-manager is"),
                            HasSubstr(R"(\"attempt\":1)")));
  edit_record([&](NodeRollout& r) { r.attempt = 1; });
  EXPECT_THAT(plan(), HasSubstr("give up: not done within 30m"));
}

TEST_F(NodeStepsApplied, ANodeThatDoesNotOfferWhatWasCutIsCutTwiceMore) {
  world_.now += 30min - 1ms;
  EXPECT_EQ(plan(), "requeue in 1ms\n");
  world_.now += 1ms;
  for (const int attempt : {0, 1}) {
    edit_record([&](NodeRollout& r) { r.attempt = attempt; });
    EXPECT_THAT(plan(), HasSubstr(fmt::format(R"(\"attempt\":{})", attempt + 1)));
  }
  edit_record([&](NodeRollout& r) { r.attempt = 2; });
  EXPECT_THAT(plan(), HasSubstr("give up: not done within 30m: mig-manager reports success, but"));
}

TEST_F(NodeStepsApplied, SomebodyElsesLabelEndsItAndTheirAgentIsLeftAlone) {
  edit_node([](Node& node) {
    node.meta.labels.set("nvidia.com/gpu.deploy.dcgm", names::kPausedForMigChange);
  });
  state("failed");
  edit_record([&](NodeRollout& r) { r.attempt = 2; });
  EXPECT_THAT(plan(), AllOf(HasSubstr("give up"), HasSubstr("gpu.deploy.dcgm")));
  label(names::kMigConfig, "theirs");
  EXPECT_THAT(plan(), AllOf(HasSubstr("give up: nvidia.com/mig.config was changed to \"theirs\""),
                            HasSubstr("gpu.deploy.dcgm"), HasSubstr(R"(\"phase\":\"Failed\")")));
  state("pending");
  EXPECT_THAT(plan(), AllOf(HasSubstr("give up"), Not(HasSubstr("gpu.deploy.dcgm"))))
      << "whoever works for somebody else has paused them";
}

// --- giving up ---

TEST_F(NodeStepsApplied, UnderRollbackThePreviousConfigIsWrittenWhereTheFileHasIt) {
  struct Case {
    const char* sentence;
    std::string previous;
    bool goes_back;
  };
  edit_layout([](MIGLayout& l) { l.spec.rollout.failure_policy = FailurePolicy::kRollback; });
  state("failed");
  for (const Case& c : {Case{"off", names::kAllDisabled, true}, Case{"none: off", "", true},
                        Case{"the one that failed", config_, false},
                        Case{"one that the file lacks", "theirs", false}}) {
    SCOPED_TRACE(c.sentence);
    edit_record([&](NodeRollout& r) {
      r.attempt = 2;
      r.previous = c.previous;
    });
    if (c.goes_back)
      EXPECT_THAT(plan(), AllOf(HasSubstr("roll back to all-disabled: mig-manager reports failed"),
                                HasSubstr(R"(\"phase\":\"RollingBack\")"),
                                HasSubstr(R"(\"config\":\"all-disabled\")"),
                                HasSubstr(R"(\"failedConfig\":\")" + config_),
                                HasSubstr(R"(\"attempt\":0)"),
                                HasSubstr(R"(\"why\":\"mig-manager reports failed)"),
                                HasSubstr("event Warning Node/n1 RollingBack")));
    else
      EXPECT_THAT(plan(), HasSubstr(R"(\"phase\":\"Failed\")"));
  }
  edit_record([&](NodeRollout& r) {
    r.phase = RolloutPhase::kRollingBack;
    r.previous = names::kAllDisabled;
    r.failed_config = "berth-small-00000000";
  });
  EXPECT_THAT(plan(), AllOf(HasSubstr(R"(\"phase\":\"Failed\")"),
                            HasSubstr(R"(\"failedConfig\":\"berth-small-00000000\")")))
      << "where that fails, too";
}

TEST_F(NodeStepsApplied, ALabelWithoutRoomForAnotherNameEndsIt) {
  const std::string longest(63, 'x');
  edit_record([&](NodeRollout& r) {
    r.phase = RolloutPhase::kRollingBack;
    r.config = longest;
    r.not_before = world_.now;
  });
  label(names::kMigConfig, longest);
  state("failed");
  EXPECT_THAT(plan(), AllOf(HasSubstr("give up"), HasSubstr("has no room for an alias")));
}

TEST_F(NodeStepsApplied, PodsThatWereBoundLateLeaveBeforeTheLabelIsWrittenAgain) {
  state("failed");
  edit_record([&](NodeRollout& r) { r.not_before = world_.now; });
  world_.add(test::node("spare").a100_80(4)).add(pod("late").gpu(1).on("n1"));
  EXPECT_THAT(plan(), AllOf(HasSubstr("evict Pod/team-a/late"), Not(HasSubstr("jsonpatch"))));
  world_.now += 20min;
  EXPECT_THAT(plan(),
              HasSubstr("give up: pods bound after the cordon don't leave: pod team-a/late"));
  edit_record([&](NodeRollout& r) { r.not_before.reset(); });
  state("pending");
  world_.now = record().since + 30min;
  EXPECT_THAT(plan(), HasSubstr("evict Pod/team-a/late")) << "their time begins with the deadline";
  world_.now += 20min;
  EXPECT_THAT(plan(), HasSubstr("give up: pods bound after"));
}

// --- users ---

TEST_F(NodeStepsApplied, ACordonThatIsNotBerthsAndIsTakenAwayEndsTheTryingAgain) {
  edit_record([&](NodeRollout& r) {
    r.berth_cordoned = false;
    r.not_before = world_.now;
  });
  uncordon();
  state("failed");
  EXPECT_THAT(plan(),
              AllOf(HasSubstr("give up"), HasSubstr("but the node was uncordoned by hand")));
}

TEST_F(NodeStepsApplied, AVerifiedNodeReturnsUnlessItIsHeldOrSomebodyElseCordonedIt) {
  cut();
  world_.now += 30s - 1ms;
  EXPECT_EQ(plan(), "requeue in 1ms\n") << "allocatable is watched";
  world_.now += 1ms;
  const std::string planned = plan();
  EXPECT_THAT(planned,
              AllOf(HasSubstr(config_ + " is verified: uncordon"),
                    HasSubstr(R"({"op":"remove","path":"/spec/unschedulable"})"),
                    HasSubstr(R"(\"phase\":\"Idle\")"), HasSubstr(R"(\"berthCordoned\":false)"),
                    HasSubstr("event Normal Node/n1 Repartitioned: " + config_ +
                              " is in force; drained for 0s, repartitioned and verified in 30s, "
                              "unavailable for 30s"),
                    Not(HasSubstr("LateBinding"))));
  world_.add(pod("late").gpu(1).on("n1")).add(pod("later").gpu(1).on("n1"));
  EXPECT_THAT(plan(), HasSubstr("LateBinding: bound to the node while its GPUs were being "
                                "repartitioned: team-a/late, team-a/later"));
  edit_record([](NodeRollout& r) { r.berth_cordoned = false; });
  EXPECT_THAT(plan(), AllOf(HasSubstr("is verified: leave it cordoned as it was"),
                            Not(HasSubstr("unschedulable"))));
  hold();
  EXPECT_THAT(plan(), HasSubstr("is verified: leave it")) << "the hold is of no matter there";
  edit_record([](NodeRollout& r) { r.berth_cordoned = true; });
  EXPECT_EQ(plan(), "") << "whoever holds it wants it kept out";
}

TEST_F(NodeStepsApplied, WhatOnceFailedIsForgottenWhenItSucceedsAndOnlyThen) {
  cut();
  world_.now += 1min;
  edit_record([&](NodeRollout& r) {
    r.failed_config = config_;
    r.attempt = 2;
  });
  EXPECT_EQ(written().failed_config, "");
  EXPECT_EQ(written().attempt, 0);
  edit_record([&](NodeRollout& r) { r.failed_config = "berth-small-00000000"; });
  EXPECT_EQ(written().failed_config, "berth-small-00000000");
}

TEST_F(NodeStepsApplied, AFailedNodeReturnsByItselfOnceItsAgentHasSucceeded) {
  bring_to(RolloutPhase::kFailed);
  edit_record([&](NodeRollout& r) { r.failed_config = config_; });
  EXPECT_EQ(plan(), "");
  cut();
  EXPECT_EQ(plan(), "requeue in 30000ms\n");
  world_.now += 30s;
  EXPECT_THAT(plan(), HasSubstr(config_ + " is verified: uncordon"));
  label(names::kDriverUpgradeState, "drain-required");
  EXPECT_EQ(plan(), "") << "in others' hands";
}

TEST_F(NodeStepsApplied, AFailedNodeIsLetGoWithItsLayoutOrWhenSomebodyUncordonsIt) {
  bring_to(RolloutPhase::kFailed);
  edit_record([&](NodeRollout& r) {
    r.failed_config = config_;
    r.why = "it broke";
    r.attempt = 2;
  });
  const Node failed = n1();
  edit_layout([&](MIGLayout& l) {
    l.meta.deletion_timestamp = world_.now;
    l.spec.deletion_policy = DeletionPolicy::kDisableMIG;
  });
  EXPECT_THAT(plan(), AllOf(HasSubstr("release: the MIGLayout that took the node is gone"),
                            HasSubstr(R"(\"attempt\":0)"), HasSubstr(R"(\"berthCordoned\":true)"),
                            HasSubstr("it stays cordoned by berth until a MIGLayout succeeds"),
                            HasSubstr(": it broke")));
  edit_record([](NodeRollout& r) { r.berth_cordoned = false; });
  EXPECT_THAT(plan(), AllOf(HasSubstr(R"(\"berthCordoned\":false)"),
                            HasSubstr("it stays cordoned as berth found it")));
  world_.add(layout_).add(failed);
  uncordon();
  EXPECT_THAT(plan(), AllOf(HasSubstr("release: it was uncordoned by hand"),
                            HasSubstr(R"(\"berthCordoned\":false)"),
                            HasSubstr("; its GPUs may not be in order: it broke")));
}

}  // namespace
}  // namespace berth::test
