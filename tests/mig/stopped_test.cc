// SPDX-License-Identifier: Apache-2.0
// While berth is stopped: which nodes it returns, which it finishes, and that it claims none.
#include <gmock/gmock.h>

#include "apis/base/reasons.h"
#include "controller/mig/rollout_choice.h"
#include "controller/mig/standing.h"
#include "tests/mig/one_node.h"

namespace berth::test {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

struct StoppedRollout : OneNode {
  StoppedRollout() { world_.now += 2min; }
  void stop() { world_.stop("incident 4711"); }
  void add_pod() { world_.add(pod("web").gpu(1).on("n1")); }
  RolloutChoice choice() {
    return decide_rollout(world_.snapshot(), *world_.cluster.mig_layouts().find("small"));
  }
  std::string standing() {
    const Snapshot snapshot = world_.snapshot();
    LayoutView view(snapshot);
    const auto found =
        standing_of(situation_of(snapshot, view, *world_.cluster.nodes().find("n1")));
    return found ? found->phase + " " + found->cause.reason + ": " + found->cause.message : "";
  }
  std::string status() { return world_.plan("layout/small").statuses.at(0).body; }
};

TEST_F(StoppedRollout, NoNodeIsTaken) {
  EXPECT_THAT(choice().take, SizeIs(1));
  stop();
  EXPECT_THAT(choice().take, IsEmpty());
  EXPECT_EQ(choice().closed->reason, reasons::kOperationsStopped);
  EXPECT_THAT(choice().nodes.at(0).cause.message, HasSubstr("berth is stopped: incident 4711"));
  EXPECT_THAT(world_.plan("layout/small").objects, IsEmpty());
  world_.resume();
  EXPECT_THAT(choice().take, SizeIs(1));
}

TEST_F(StoppedRollout, AClaimIsGivenBackAndNothingIsCordoned) {
  world_.claim("n1", "small");
  EXPECT_THAT(plan(), HasSubstr("cordon for MIGLayout small"));
  stop();
  EXPECT_THAT(plan(), AllOf(HasSubstr("give the slot back: berth is stopped: incident 4711"),
                            Not(HasSubstr("unschedulable"))));
}

TEST_F(StoppedRollout, ANodeThatOnlyDrainsIsUncordonedAndNobodyIsEvicted) {
  bring_to(RolloutPhase::kCordoned);
  add_pod();
  EXPECT_THAT(plan(), HasSubstr("evict Pod/team-a/web"));
  stop();
  EXPECT_THAT(plan(), AllOf(HasSubstr("restore: berth is stopped: incident 4711"),
                            HasSubstr("unschedulable"), Not(HasSubstr("evict")),
                            HasSubstr(R"(\"phase\":\"Idle\")"), Not(HasSubstr("notBefore"))));
}

TEST_F(StoppedRollout, ADrainedNodeIsNotRepartitioned) {
  bring_to(RolloutPhase::kCordoned);
  world_.now += 2min;
  EXPECT_THAT(plan(), HasSubstr("apply " + config_));
  stop();
  EXPECT_THAT(plan(), HasSubstr("restore: berth is stopped"));
}

TEST_F(StoppedRollout, ANodeThatMigManagerRepartitionsIsFinished) {
  bring_to(RolloutPhase::kApplying);
  state("pending");
  stop();
  EXPECT_THAT(plan(), Not(HasSubstr("restore")));
  cut(), state("success");
  plan();
  world_.now += 2min;
  EXPECT_THAT(plan(), HasSubstr(config_ + " is verified: uncordon"));
}

TEST_F(StoppedRollout, AFailedAgentIsNotTriedAgain) {
  bring_to(RolloutPhase::kApplying);
  world_.now += 5min;
  state("failed");
  edit_record([&](NodeRollout& r) { r.not_before = world_.now; });
  add_pod();
  EXPECT_THAT(plan(), HasSubstr("evict Pod/team-a/web")) << "a pod that was bound late";
  world_.cluster.erase<Pod>("team-a", "web");
  EXPECT_THAT(plan(), HasSubstr("try again: mig-manager reports"));
  stop();
  EXPECT_EQ(plan(), "");
  EXPECT_THAT(standing(), AllOf(HasSubstr("Retrying OperationsStopped: attempt 1 of 3: "),
                                HasSubstr("berth is stopped: incident 4711")));
  add_pod();
  EXPECT_EQ(plan(), "");
}

TEST_F(StoppedRollout, ANodeDoesNotGoOnToWhatTheLayoutAsksForNow) {
  bring_to(RolloutPhase::kApplying);
  cut(), state("success");
  world_.now += 5min;
  ask_for_another();
  EXPECT_THAT(plan(), HasSubstr("continue with " + other_config_));
  stop();
  EXPECT_THAT(plan(), Not(HasSubstr("continue with")));
}

TEST_F(StoppedRollout, TheLayoutIsNeitherStalledNorReconciling) {
  stop();
  EXPECT_THAT(status(),
              AllOf(HasSubstr(R"("type":"Stopped")"), HasSubstr(R"("reason":"OperationsStopped")"),
                    Not(HasSubstr("Stalled")), Not(HasSubstr("Reconciling"))));
  world_.resume();
  EXPECT_THAT(status(), AllOf(Not(HasSubstr("Stopped")), HasSubstr("Reconciling")));
}

TEST_F(StoppedRollout, WhatIsBeingFinishedReconciles) {
  bring_to(RolloutPhase::kApplying);
  state("pending");
  stop();
  EXPECT_THAT(status(), AllOf(HasSubstr("Stopped"), HasSubstr("Reconciling")));
}

TEST_F(StoppedRollout, ALayoutSaysOnceThatItWaits) {
  world_.write_status("layout/small");
  stop();
  EXPECT_THAT(world_.write_status("layout/small"),
              ::testing::ElementsAre(HasSubstr("RolloutBlocked: OperationsStopped")));
  EXPECT_THAT(world_.write_status("layout/small"), IsEmpty());
}

}  // namespace
}  // namespace berth::test
