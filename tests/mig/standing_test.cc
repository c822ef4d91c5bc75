// SPDX-License-Identifier: Apache-2.0
// The text of the layout's status about one node that waits or is in a rollout: its column, its
// phase, and the reason.
#include "controller/disruption/health_record.h"
#include "tests/mig/standing_fixture.h"

namespace berth::test {
namespace {

using namespace std::chrono_literals;

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
          {"the agent is at work on another config", [&] { state("pending"); },
           "pending Waiting AgentPending: mig-manager is still applying all-disabled; berth waits"},
          {"the node reboots for another config", [&] { state("rebooting"); },
           "pending Waiting AgentPending: mig-manager is still applying all-disabled"},
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

}  // namespace
}  // namespace berth::test
