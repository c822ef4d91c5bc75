// SPDX-License-Identifier: Apache-2.0
// The text of the layout's status about one node after an error: what was changed, refused or lost,
// what berth gave up, and how the node returns.
#include "apis/base/reasons.h"
#include "tests/mig/standing_fixture.h"

namespace berth::test {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST_F(StandingTest, ALabelThatSomebodyChangedIsSetBackThreeTimesWhileNobodyUsesTheGpus) {
  const auto changed = [&](int times) {
    cut();
    label(names::kMigConfig, "theirs");
    back([&](NodeRollout& r) {
      r.config = config_;
      r.reasserts = times;
    });
  };
  expect_told(
      {
          {"the first time", [&] { changed(0); }, ""},
          {"the third", [&] { changed(2); }, ""},
          {"the fourth", [&] { changed(3); },
           "blocked Waiting Contested: somebody set nvidia.com/mig.config=theirs over berth's "
           "berth-small-"},
          {"the GPUs are in use",
           [&] {
             changed(0);
             world_.add(pod("web").gpu(1).on("n1"));
           },
           "blocked Waiting Contested"},
          {"the GPUs were cut anew",
           [&] {
             changed(0);
             edit_node([](Node& node) {
               node.allocatable.set("nvidia.com/mig-1g.10gb", Quantity::whole(27));
             });
           },
           "blocked Waiting Contested"},
          {"or are about to be",
           [&] {
             changed(0);
             state("pending");
           },
           "blocked Waiting Contested"},
          {"it was another config of berth's",
           [&] {
             changed(3);
             back([&](NodeRollout& r) { r.config = "berth-small-00000000"; });
           },
           ""},
      },
      [] {});
}

TEST_F(StandingTest, ANodeThatWasGivenUpIsToldWhenItIsTriedAgain) {
  const auto given_up = [&](const char* cause, int attempt = 2, const char* why = "too slow") {
    back([&](NodeRollout& r) {
      r.cause = cause;
      r.attempt = attempt;
      r.why = why;
      r.not_before = world_.now + 5min;
    });
  };
  const std::string again = "tried again after 2026-11-21T12:05:00Z";
  given_up("PodsLeaving");
  EXPECT_EQ(told(),
            "pending Waiting BackingOff: its drain was given up 2 times, too slow; " + again);
  EXPECT_EQ(standing()->due, world_.now + 5min);
  given_up("", 1, "");
  EXPECT_EQ(told(), "pending Waiting BackingOff: its drain was given up 1 time; " + again);
  given_up("UnmanagedPod");
  EXPECT_THAT(told(), StartsWith("blocked Waiting BackingOff: "));
  given_up("WriteRefused");
  EXPECT_EQ(told(), "blocked Waiting WriteRefused: too slow; " + again);
  world_.now += 5min - 1ms;
  EXPECT_NE(told(), "");
  world_.now += 1ms;
  EXPECT_EQ(told(), "") << "its time has come";
}

TEST_F(StandingTest, AClaimWhoseCordonIsRefusedIsStuckOnlyOfAFormerLeader) {
  const auto refused = [&] {
    const Step step = Write{.verb = Verb::kJsonPatch,
                            .object = ref_of(n1()),
                            .body = {},
                            .field_manager = names::kManagerMig};
    world_.answers.put(question(step), {.yes = false,
                                        .error = {.kind = ErrorKind::kInvalid,
                                                  .message = "policy says no",
                                                  .where = {},
                                                  .http_code = 422},
                                        .against = {},
                                        .at = world_.now,
                                        .object = ref_of(n1()).str(),
                                        .field_manager = names::kManagerMig,
                                        .reason = "cordon"});
  };
  refused();
  EXPECT_THAT(told(),
              AllOf(StartsWith("blocked Waiting WriteRefused"), HasSubstr("policy says no")));
  world_.claim("n1", "small");
  EXPECT_THAT(told(), StartsWith("in progress Waiting WriteRefused: "));
  EXPECT_FALSE(standing()->stuck);
  world_.epoch = 2;
  EXPECT_TRUE(standing()->stuck);
  world_.answers = Answers();
  back([](NodeRollout& r) {
    r.seq = 0;
    r.cause = "WriteRefused";
    r.why = "it was refused";
  });
  EXPECT_EQ(told(), "in progress Waiting WriteRefused: it was refused");
  EXPECT_TRUE(standing()->stuck);

  bring_to(RolloutPhase::kCordoned);
  EXPECT_FALSE(standing()->stuck);
  refused();
  EXPECT_THAT(told(), StartsWith("in progress Cordoned WriteRefused: "));
  EXPECT_TRUE(standing()->stuck) << "whatever is next is a write";
}

TEST_F(StandingTest, ANodeIsStuckWhereTheFileThatItNeedsMayNotBeWritten) {
  bring_to(RolloutPhase::kCordoned);
  empty_file();
  EXPECT_FALSE(standing()->stuck);
  const ConfigMap& file = *world_.cluster.config_maps().find(world_.settings.agents_namespace,
                                                             world_.settings.mig_config_map);
  const Step step = Write{.verb = Verb::kMergePatch,
                          .object = ref_of(file),
                          .body = {},
                          .field_manager = names::kManagerMig};
  world_.answers.put(
      question(step),
      {.yes = false,
       .error = {.kind = ErrorKind::kInvalid, .message = "no", .where = {}, .http_code = 422},
       .against = {},
       .at = world_.now,
       .object = ref_of(file).str(),
       .field_manager = names::kManagerMig,
       .reason = "render"});
  EXPECT_TRUE(standing()->stuck);
  EXPECT_EQ(standing()->cause.reason, reasons::kWriteRefused);
}

TEST_F(StandingTest, OfANodeThatIsPutBackItIsToldForWhatOnlyWhereThereIsACause) {
  world_.claim("n1", "small");
  back([](NodeRollout& r) { r.why = "old"; });
  EXPECT_EQ(told(), "in progress Restored BackingOff: put back");
}

TEST_F(StandingTest, ANodeKeptOutReturnsOnceItsGpusAreRight) {
  const auto kept_out = [&] {
    back([](NodeRollout& r) {
      r.berth_cordoned = true;
      r.failed_config = "berth-gone-00000000";
    });
    edit_node([](Node& node) { node.unschedulable = true; });
  };
  cut();
  kept_out();
  EXPECT_THAT(told(), StartsWith("in progress Verifying Verifying: its GPUs are right; berth kept "
                                 "it cordoned after a failure and uncordons it soon"));
  EXPECT_EQ(standing()->due, world_.now + 30s);
  hold();
  EXPECT_THAT(told(),
              StartsWith("blocked Waiting Held: its GPUs are right, and it stays cordoned"));
  world_.add(test::node("n1").a100_80(4).label("tier", "mig"));
  cut();
  kept_out();
  label(names::kDriverUpgradeState, "drain-required");
  EXPECT_THAT(told(), HasSubstr("Waiting UpgradeInProgress: "));
  uncordon();
  EXPECT_EQ(told(), "updated UpToDate : ") << "somebody has taken it back";
  world_.add(test::node("n1").a100_80(4).label("tier", "mig").cordoned());
  back([&](NodeRollout& r) {
    r.berth_cordoned = true;
    r.failed_config = config_;
    r.why = "it broke";
  });
  EXPECT_EQ(told(),
            "failed Idle NodeFailed: it broke; edit the layout to try again: berth keeps it "
            "cordoned until then");
}

TEST_F(StandingTest, WhoeverTakesTheRecordAwayTwiceHasToBeFound) {
  Slot slot{"uid-n1", "MIGLayout/small", 1, 1, world_.now};
  slot.berth_cordoned = false;
  slot.lost = 1;
  set_slot(slot);
  EXPECT_THAT(told(), AllOf(StartsWith("in progress Waiting RolloutForgotten: annotation"),
                            HasSubstr("its cordon is somebody else's")));
  edit_node([](Node& node) { node.unschedulable = true; });
  EXPECT_THAT(told(), StartsWith("in progress Cordoned RolloutForgotten"));
  slot.lost = 2;
  set_slot(slot);
  EXPECT_THAT(told(), AllOf(StartsWith("blocked Cordoned RolloutForgotten"),
                            HasSubstr("overwritten 2 times"), HasSubstr("writes it again soon")));
  slot.recall = world_.now + 30s;
  set_slot(slot);
  EXPECT_THAT(told(), HasSubstr("writes it again after 2026-11-21T12:00:30Z"));
}

}  // namespace
}  // namespace berth::test
