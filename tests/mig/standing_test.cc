// SPDX-License-Identifier: Apache-2.0
// What is said of one node in its layout's status: which column it counts in, its phase, and why it
// waits.
#include "controller/mig/standing.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <functional>

#include "apis/reasons.h"
#include "controller/disruption/health_record.h"
#include "controller/disruption/slots.h"
#include "controller/mig/situation.h"
#include "tests/mig/one_node.h"

namespace berth::test {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

const char* name_of(NodeBucket bucket) {
  switch (bucket) {
    case NodeBucket::kUpdated:
      return "updated";
    case NodeBucket::kInProgress:
      return "in progress";
    case NodeBucket::kBlocked:
      return "blocked";
    case NodeBucket::kFailed:
      return "failed";
    case NodeBucket::kPending:
      return "pending";
  }
  return "?";
}

struct StandingTest : OneNode {
  std::optional<NodeStanding> standing() {
    const Snapshot snapshot = world_.snapshot();
    LayoutView view(snapshot);
    return standing_of(situation_of(snapshot, view, *world_.cluster.nodes().find("n1")));
  }
  // "in progress Cordoned Settling: drained; …"; nothing: it may go.
  std::string told() {
    const std::optional<NodeStanding> s = standing();
    return !s ? ""
              : fmt::format("{} {} {}: {}", name_of(s->bucket), s->phase, s->cause.reason,
                            s->cause.message);
  }
  void set_slot(const Slot& slot) {
    ConfigMap ledger = world_.ledger();
    ledger.data["n1"] = encode_slot(slot);
    world_.add(ledger);
  }
  // Idle since the rollout that the test describes.
  void back(std::function<void(NodeRollout&)> describe) {
    NodeRollout rollout;
    rollout.seq = 1;
    rollout.since = world_.now;
    describe(rollout);
    rollout.node_uid = "uid-n1";
    edit_node([&](Node& node) {
      node.meta.annotations.set(names::kRolloutAnnotation, encode_rollout(rollout));
    });
  }
  struct Case {
    const char* sentence;
    std::function<void()> stands;
    const char* told;
  };
  // Each on n1 as `anew` makes it.
  void expect_told(const std::vector<Case>& cases, std::function<void()> anew) {
    const ConfigMap file = *world_.cluster.config_maps().find(world_.settings.agents_namespace,
                                                              world_.settings.mig_config_map);
    const Time start = world_.now;
    for (const Case& c : cases) {
      SCOPED_TRACE(c.sentence);
      world_.now = start;
      world_.add(test::node("n1").a100_80(4).label("tier", "mig")).add(layout_).add(file);
      world_.cluster.erase<Pod>("team-a", "web");
      anew();
      c.stands();
      if (*c.told == '\0')
        EXPECT_EQ(told(), "");
      else
        EXPECT_THAT(told(), StartsWith(c.told));
    }
  }
  void empty_file() {
    ConfigMap file = *world_.cluster.config_maps().find(world_.settings.agents_namespace,
                                                        world_.settings.mig_config_map);
    file.data[names::kMigPartedKey] = "version: v1\nmig-configs:\n  x:\n";
    world_.add(file);
  }
};

TEST_F(StandingTest, OfACordonedNodeItIsToldWhatItWaitsFor) {
  expect_told(
      {
          {"nothing", [] {},
           "in progress Cordoned Settling: drained; pods that were just bound may still arrive"},
          {"a pod", [&] { world_.add(pod("web").gpu(1).on("n1").terminating()); },
           "in progress Draining PodsLeaving: pod team-a/web is terminating"},
          {"a hold", [&] { hold(); },
           "in progress Cordoned Held: held by annotation gpu.berth.dev/hold during the drain"},
          {"an upgrade",
           [&] {
             world_.add(pod("web").gpu(1).on("n1"));
             label(names::kDriverUpgradeState, "drain-required");
           },
           "in progress Cordoned UpgradeInProgress: the GPU operator is upgrading the driver"},
          {"the node", [&] { edit_node([](Node& node) { node.ready = false; }); },
           "in progress Cordoned NodeNotReady: the node is not Ready"},
          {"an agent at work", [&] { state("pending"); },
           "in progress Cordoned AgentPending: mig-manager is still applying all-disabled"},
          {"a reboot", [&] { state("rebooting"); }, "in progress Cordoned AgentPending"},
          {"the file", [&] { empty_file(); },
           "in progress Cordoned ConfigNotRendered: ConfigMap gpu-operator/berth-mig-parted-config "
           "does not hold berth-small-"},
      },
      [&] { bring_to(RolloutPhase::kCordoned); });
}

TEST_F(StandingTest, OfANodeThatIsBeingCutItIsToldHowFarItIs) {
  expect_told(
      {
          {"no word of the agent", [&] { state(""); }, "in progress Applying AgentPending: "},
          {"at work", [&] { state("pending"); },
           "in progress Applying AgentPending: mig-manager is repartitioning the GPUs"},
          {"at work, and held",
           [&] {
             state("pending");
             hold();
           },
           "in progress Applying AgentPending: "},
          {"failed once",
           [&] {
             state("failed");
             edit_record([&](NodeRollout& r) { r.not_before = world_.now; });
           },
           "in progress Retrying AgentFailed: attempt 1 of 3: mig-manager reports failed"},
          {"failed again",
           [&] {
             state("failed");
             edit_record([](NodeRollout& r) { r.attempt = 2; });
           },
           "in progress Applying AgentFailed: attempt 3 of 3: "},
          {"a device is missing", [] {}, "in progress Verifying AllocatableMismatch: "},
          {"watched", [&] { cut(); },
           "in progress Verifying Verifying: allocatable is as promised; watched for 30s"},
          {"a pod came late",
           [&] {
             cut();
             world_.add(pod("web").gpu(1).on("n1"));
           },
           "in progress Verifying LateBinding: allocatable is as promised; watched for 30s; bound "
           "late: team-a/web"},
          {"verified, and held",
           [&] {
             cut();
             hold();
             world_.now += 30s;
           },
           "in progress Verifying Held: verified; stays cordoned while annotation "
           "gpu.berth.dev/hold holds it"},
          {"verified, held, and not cordoned by berth",
           [&] {
             cut();
             hold();
             edit_record([](NodeRollout& r) { r.berth_cordoned = false; });
             world_.now += 30s;
           },
           "in progress Verifying Verifying: allocatable is as promised"},
          {"going back",
           [&] {
             edit_record([](NodeRollout& r) {
               r.phase = RolloutPhase::kRollingBack;
               r.why = "it broke";
               r.config = "all-disabled";
             });
           },
           "in progress RollingBack Contested: rolling back to all-disabled: it broke"},
          {"in others' hands", [&] { label(names::kDriverUpgradeState, "drain-required"); },
           "in progress Verifying UpgradeInProgress: "},
      },
      [&] { bring_to(RolloutPhase::kApplying); });
}

TEST_F(StandingTest, OfAHeldNodeItIsDueWhenTheWatchEnds) {
  bring_to(RolloutPhase::kApplying);
  cut();
  EXPECT_EQ(standing()->due, std::nullopt);
  hold();
  EXPECT_EQ(standing()->due, world_.now + 30s);
  state("pending");
  EXPECT_EQ(standing()->due, std::nullopt) << "the agent's next word brings it here";
  state("success");
  edit_record([](NodeRollout& r) { r.berth_cordoned = false; });
  EXPECT_EQ(standing()->due, std::nullopt);
}

TEST_F(StandingTest, OfANodeThatWaitsItIsToldForWhat) {
  expect_told(
      {
          {"nothing", [] {}, ""},
          {"the layout does not fit", [&] { label(names::kMigStrategy, "weird"); },
           "blocked Waiting InvalidLayout: label nvidia.com/mig.strategy=weird"},
          {"it is right", [&] { cut(); }, "updated UpToDate : "},
          {"it is right, and somebody keeps it cordoned",
           [&] {
             cut();
             edit_node([](Node& n) { n.unschedulable = true; });
           },
           "updated UpToDate : "},
          {"its record is junk",
           [&] {
             edit_node([](Node& n) { n.meta.annotations.set(names::kRolloutAnnotation, "{junk"); });
           },
           "blocked Waiting Contested: berth can't read annotation gpu.berth.dev/mig-rollout"},
          {"this config has failed here",
           [&] {
             back([&](NodeRollout& r) {
               r.failed_config = config_;
               r.why = "it broke";
             });
           },
           "failed Idle NodeFailed: it broke; edit the layout to try again"},
          {"the label is right, the agent is at work",
           [&] {
             cut();
             state("pending");
           },
           "pending Waiting AgentPending: nvidia.com/mig.config is right, but mig-manager reports "
           "\"pending\""},
          {"the label is right, the agent failed",
           [&] {
             cut();
             state("failed");
           },
           "pending Waiting AgentFailed: nvidia.com/mig.config is right, but"},
          {"the label is right, a device is missing", [&] { label(names::kMigConfig, config_); },
           "pending Waiting AllocatableMismatch: mig-manager reports success, but"},
          {"it has a slot", [&] { world_.claim("n1", "small"); },
           "in progress Waiting Claiming: it has a slot and is cordoned next"},
          {"it has a slot, and was given up for a pod before",
           [&] {
             world_.claim("n1", "small");
             back([](NodeRollout& r) {
               r.seq = 0;
               r.cause = "PodsLeaving";
             });
           },
           "in progress Waiting Claiming: "},
          {"its slot is about to be freed",
           [&] {
             world_.claim("n1", "small");
             back([](NodeRollout& r) {
               r.cause = "PodsLeaving";
               r.why = "drain timed out";
             });
           },
           "in progress Restored BackingOff: put back: drain timed out"},
          {"the same, of a layout that wanted it no more",
           [&] {
             world_.claim("n1", "small");
             back([](NodeRollout& r) { r.why = "old"; });
           },
           "in progress Restored BackingOff: put back"},
          {"somebody else has it",
           [&] {
             set_slot({"uid-n1", "GPUClusterPolicy/cluster", 1, 1, world_.now});
           },
           "blocked Waiting Held: GPUClusterPolicy/cluster has the node"},
          {"it is held", [&] { hold(); },
           "blocked Waiting Held: held by a person; remove the annotation to release it "
           "(gpu.berth.dev/hold=mine)"},
          {"berth has it out for its health",
           [&] {
             edit_node([](Node& node) {
               node.unschedulable = true;
               node.meta.annotations.set(
                   names::kHealthAnnotation,
                   encode_health({.phase = HealthPhase::kCordoned,
                                  .node_uid = node.meta.uid,
                                  .findings = "GPU 1: XID 79, it fell off the bus"}));
             });
           },
           "blocked Waiting Held: out of service for its health: GPU 1: XID 79, it fell off the "
           "bus"},
          {"mig-manager is not there", [&] { label(names::kDeployMigManager, "false"); },
           "blocked Waiting MigManagerMissing: "},
      },
      [&] {
        ConfigMap ledger = world_.ledger();
        ledger.data.clear();
        world_.add(ledger);
      });
}

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
