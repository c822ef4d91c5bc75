// SPDX-License-Identifier: Apache-2.0
// What takes a node out of service, what berth only reports, and what returns the node.
#include <gmock/gmock.h>

#include "apis/base/names.h"
#include "apis/base/reasons.h"
#include "controller/disruption/rollout_annotation.h"
#include "tests/health/sick_cluster.h"

namespace berth::test {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

std::vector<std::string> reasons_of(const Plan& plan) {
  std::vector<std::string> reasons;
  for (const EventNote& event : plan.events)
    reasons.push_back(event.regarding.name + " " + event.reason);
  return reasons;
}

TEST(NodeHealth, AFatalXidCordonsOnceAndAProgramsOwnNever) {
  for (const int code : {48, 62, 63, 64, 74, 79, 94, 95, 110, 119, 120, 140, 143}) {
    SickCluster sick(10);
    sick.xid("n3", 1, code);
    EXPECT_THAT(reasons_of(sick.run()), testing::ElementsAre("n3 UnhealthyCordoned")) << code;
    EXPECT_TRUE(sick.is_out("n3")) << code;
    EXPECT_THAT(sick.record("n3")->findings, HasSubstr(fmt::format("GPU 1: XID {}", code)));
    EXPECT_TRUE(sick.run().empty());
  }
  for (const int code : {13, 31, 43, 45, 68, 109}) {
    SickCluster sick(10);
    sick.xid("n3", 1, code);
    EXPECT_TRUE(sick.run().empty()) << code;
    EXPECT_FALSE(sick.record("n3")) << code;
  }
}

TEST(NodeHealth, AnXidThatNobodyKnowsIsToldAndTheNodeKept) {
  SickCluster sick(10);
  sick.xid("n3", 1, 999);
  EXPECT_THAT(reasons_of(sick.run()), testing::ElementsAre("n3 GPUsUnhealthy"));
  EXPECT_FALSE(sick.is_out("n3"));
  sick.pass(16min);
  EXPECT_FALSE(sick.record("n3")) << "forgotten when it does not come again";
}

// A gauge keeps its number until the exporter restarts.
TEST(NodeHealth, WhatStoodBeforeBerthLookedDoesNothing) {
  SickCluster sick(10);
  sick.gpu("n3", 1).xid = Rise{.value = 79};
  sick.gpu("n3", 1).double_bit_errors = Rise{.value = 12};
  EXPECT_TRUE(sick.run().empty());
}

TEST(NodeHealth, EachOtherFaultIsToldByItsName) {
  const auto found = [](auto&& harm) {
    SickCluster sick(10);
    harm(sick);
    sick.run();
    return sick.record("n3") ? sick.record("n3")->keys + (sick.is_out("n3") ? " out" : " in") : "";
  };
  EXPECT_EQ(found([](SickCluster& sick) {
              sick.gpu("n3", 0).double_bit_errors = Rise{.value = 1, .at = sick.now};
            }),
            "DoubleBitErrors/0 out");
  EXPECT_EQ(found([](SickCluster& sick) { sick.gpu("n3", 0).remap_failed = true; }),
            "RemapFailed/0 out");
  EXPECT_EQ(found([](SickCluster& sick) {
              sick.heat("n3", 2);
              sick.now += kHotFor;
              sick.look();
            }),
            "Hot/2 out");
  EXPECT_EQ(found([](SickCluster& sick) {
              sick.gpu("n3", 0).link_errors = Rise{.value = 9, .at = sick.now};
            }),
            "LinkErrors/0 in");
  EXPECT_EQ(found([](SickCluster& sick) {
              sick.gpu("n3", 0).pcie_replays = Rise{.value = 9, .at = sick.now};
            }),
            "PcieReplays/0 in");
  EXPECT_EQ(found([](SickCluster& sick) { sick.gpu("n3", 1).throttled_at = sick.now; }),
            "Throttled/1 in");
  EXPECT_EQ(found([](SickCluster& sick) {
              sick.xid("n3", 0, 79);
              sick.policy.spec.health.xid = XidPolicy::kIgnore;
            }),
            "");
  EXPECT_EQ(found([](SickCluster& sick) {
              sick.gpu("n3", 0).double_bit_errors = Rise{.value = 1, .at = sick.now};
              sick.policy.spec.health.double_bit_ecc = false;
            }),
            "");
}

TEST(NodeHealth, AGpuThatVanishesAmongOthersIsAFaultAndANodeThatDoesIsNot) {
  SickCluster sick(10);
  sick.now += 3min;
  sick.look("n4");
  sick.gpu("n3", 2).seen -= 3min;
  sick.run();
  EXPECT_EQ(sick.record("n3")->keys, "GpuMissing/2");
  EXPECT_TRUE(sick.is_out("n3"));
  EXPECT_FALSE(sick.record("n4")) << "its exporter is gone, and its GPUs may be well";
}

// The new machine inherits neither the old one's faults nor its record.
TEST(NodeHealth, AMachineOfTheSameNameIsAnother) {
  SickCluster sick(3);
  sick.xid("n1", 0, 79);
  Node next = sick.node("n1");
  next.meta.uid = "another";
  sick.now += 1min;
  next.meta.creation_timestamp = sick.now;
  sick.put(std::move(next));
  sick.gpu("n1", 1).uuid = "GPU-new-1";
  sick.gpu("n1", 1).seen = sick.now;
  sick.run();
  EXPECT_FALSE(sick.is_out("n1"));
  EXPECT_FALSE(sick.record("n1"));
}

TEST(NodeHealth, DevicesThatTheKubeletDoesNotOfferAreAFaultOnceThatIsSteady) {
  SickCluster sick(10);
  const auto offer = [&](int count) {
    Node node = sick.node("n3");
    node.capacity.set("nvidia.com/gpu", Quantity::whole(4));
    node.allocatable.set("nvidia.com/gpu", Quantity::whole(count));
    sick.put(std::move(node));
  };
  offer(0);
  sick.pass(5min);
  EXPECT_FALSE(sick.record("n3")) << "a device plugin that is away offers none";
  offer(3);
  EXPECT_EQ(sick.run().requeue_after, 1min);
  EXPECT_FALSE(sick.record("n3"));
  sick.pass(1min);
  EXPECT_EQ(sick.record("n3")->keys, "DevicesUnhealthy/nvidia.com/gpu");
  EXPECT_TRUE(sick.is_out("n3"));
  sick.pass(1h);
  EXPECT_TRUE(sick.is_out("n3")) << "for as long as it stands";
  offer(4);
  sick.pass(20min);
  EXPECT_FALSE(sick.is_out("n3"));
}

TEST(NodeHealth, ReportOnlyTells) {
  SickCluster sick(10);
  sick.policy.spec.health.action = HealthAction::kReport;
  sick.xid("n3", 1, 79);
  EXPECT_THAT(reasons_of(sick.run()), testing::ElementsAre("n3 GPUsUnhealthy"));
  EXPECT_FALSE(sick.is_out("n3"));
  sick.policy.spec.health.action = HealthAction::kCordon;
  sick.run();
  EXPECT_TRUE(sick.is_out("n3"));
  sick.policy.spec.health.action = HealthAction::kReport;
  sick.run();
  EXPECT_FALSE(sick.is_out("n3")) << "the policy takes it back";
}

// A broken exporter drains no node.
TEST(NodeHealth, MoreThanTheFractionAtOnceAreToldAndKept) {
  SickCluster sick(10);
  for (const char* name : {"n1", "n2", "n3"}) sick.xid(name, 0, 79);
  const Plan plan = sick.run();
  EXPECT_EQ(plan.events.size(), 3u);
  EXPECT_THAT(plan.events.front().note, HasSubstr("maxUnhealthyFraction is 2 of them"));
  for (const char* name : {"n1", "n2", "n3"}) EXPECT_FALSE(sick.is_out(name));
  sick.policy.spec.health.max_unhealthy_fraction = {30, true};
  sick.run();
  for (const char* name : {"n1", "n2", "n3"}) EXPECT_TRUE(sick.is_out(name));
}

TEST(NodeHealth, OneAfterTheOtherNoMoreThanTheFractionGo) {
  SickCluster sick(10);
  int out = 0;
  for (int n = 1; n <= 10; ++n, sick.now += 30s) {
    sick.look();
    sick.xid(fmt::format("n{}", n), 0, 79);
    sick.run();
  }
  for (int n = 1; n <= 10; ++n) out += sick.is_out(fmt::format("n{}", n)) ? 1 : 0;
  EXPECT_EQ(out, 2);
}

TEST(NodeHealth, TheBudgetOfThePoolHoldsForHealthToo) {
  SickCluster sick(10);
  sick.policy.spec.disruption.max_unavailable = {1, false};
  Node other = sick.node("n9");
  other.unschedulable = true;
  sick.put(std::move(other));
  sick.xid("n3", 1, 79);
  EXPECT_THAT(sick.run().events.at(0).note,
              HasSubstr("left in service: GPUClusterPolicy allows 1"));
  EXPECT_FALSE(sick.is_out("n3"));
}

TEST(NodeHealth, ItComesBackWhenNothingHasBeenFoundForLongEnough) {
  SickCluster sick(10);
  sick.xid("n3", 1, 79);
  sick.run();
  sick.pass(14min);
  EXPECT_TRUE(sick.is_out("n3"));
  sick.pass(1min);
  EXPECT_FALSE(sick.is_out("n3"));
  EXPECT_EQ(sick.record("n3")->phase, HealthPhase::kRecovered);
  sick.pass(25h);
  EXPECT_FALSE(sick.record("n3")) << "nothing stays for ever";
}

TEST(NodeHealth, ItDoesNotComeBackWhileNobodyLooks) {
  SickCluster sick(10);
  sick.xid("n3", 1, 79);
  sick.run();
  for (int i = 0; i < 60; ++i, sick.now += 1min) {
    sick.look("n3");
    sick.run();
  }
  EXPECT_TRUE(sick.is_out("n3"));
  sick.look();
  sick.run();
  EXPECT_FALSE(sick.is_out("n3"));
}

TEST(NodeHealth, AGpuThatGoesHotAndColdDoesNotTakeItsNodeAlong) {
  SickCluster sick(10);
  int cordons = 0;
  int writes = 0;
  for (int i = 0; i < 12 * 120; ++i) {
    // Hot for six minutes of every twenty-five.
    if (i % 50 == 0) sick.heat("n3", 0);
    if (i % 50 == 12) sick.cool("n3", 0);
    sick.now += 30s;
    sick.look();
    const Plan plan = sick.run();
    writes += plan.empty() ? 0 : 1;
    for (const EventNote& event : plan.events)
      cordons += event.reason == reasons::kUnhealthyCordoned ? 1 : 0;
  }
  EXPECT_EQ(cordons, 2) << "in twelve hours: the second wait is longer than it stays cold";
  EXPECT_LE(writes, 2 * 12 * 4);
}

TEST(NodeHealth, APersonsWordsHold) {
  SickCluster sick(10);
  Node held = sick.node("n3");
  held.meta.annotations.set(names::kHoldAnnotation, "mine");
  sick.put(std::move(held));
  sick.xid("n3", 1, 79);
  EXPECT_TRUE(sick.run().empty());

  Node cordoned = sick.node("n4");
  cordoned.unschedulable = true;
  sick.put(std::move(cordoned));
  sick.xid("n4", 1, 79);
  sick.run();
  EXPECT_EQ(sick.record("n4")->phase, HealthPhase::kReported);
  sick.pass(2h);
  EXPECT_TRUE(sick.is_out("n4")) << "never a cordon that is not berth's";
}

// A condition of the node's own components, from now until it is removed.
void say(SickCluster& sick, const std::string& name, const char* type, const char* reason) {
  Node node = sick.node(name);
  if (reason == nullptr)
    node.gpu_conditions.erase(type);
  else
    node.gpu_conditions.set(type, reason);
  sick.put(std::move(node));
}

TEST(NodeHealth, AConditionOfACloudsAgentTakesTheNodeUntilItTurns) {
  SickCluster sick(10);
  say(sick, "n3", "AcceleratedHardwareReady", "NvidiaXID79Error");
  EXPECT_THAT(reasons_of(sick.run()), testing::ElementsAre("n3 UnhealthyCordoned"));
  EXPECT_EQ(sick.record("n3")->keys, "NodeCondition/AcceleratedHardwareReady:NvidiaXID79Error");
  EXPECT_THAT(sick.record("n3")->findings,
              HasSubstr("condition AcceleratedHardwareReady is False: NvidiaXID79Error"));
  sick.pass(2h);
  EXPECT_TRUE(sick.is_out("n3")) << "for as long as it stands";
  say(sick, "n3", "AcceleratedHardwareReady", nullptr);
  sick.pass(5min);
  EXPECT_TRUE(sick.is_out("n3"));
  sick.pass(11min);
  EXPECT_FALSE(sick.is_out("n3"));
}

TEST(NodeHealth, AReasonWithCommasIsToldOnce) {
  SickCluster sick(10);
  sick.policy.spec.health.action = HealthAction::kReport;
  say(sick, "n3", "GPUMissing", "one, two");
  EXPECT_THAT(reasons_of(sick.run()), testing::ElementsAre("n3 GPUsUnhealthy"));
  sick.now += 1s;
  sick.look();
  EXPECT_THAT(reasons_of(sick.run()), testing::IsEmpty());
}

TEST(NodeHealth, WhatComesAndGoesOrIsNoGpusFaultIsOnlyTold) {
  const auto told = [](const char* type, const char* reason,
                       XidPolicy xid = XidPolicy::kDefault) -> std::string {
    SickCluster sick(10);
    sick.policy.spec.health.xid = xid;
    say(sick, "n3", type, reason);
    sick.run();
    return sick.is_out("n3") ? "out" : sick.record("n3") ? "in" : "untold";
  };
  for (const char* type : {"AcceleratedHardwareReady", "GPUMissing", "GpuMemWatch", "GpuPcieWatch",
                           "GpuInforomWatch", "GpuNvswitchFatalWatch", "SysLogsGPUFallenOff"})
    EXPECT_EQ(told(type, ""), "out") << type;
  for (const char* type :
       {"NVLinkStatusInactive", "XIDErrors", "GPUClockThrottling", "UnhealthyNvidiaDevicePlugin",
        "GpuNvlinkWatch", "GpuThermalWatch", "SysLogsXIDError", "SysLogsSXIDError"})
    EXPECT_EQ(told(type, ""), "in") << type;
  EXPECT_EQ(told("AcceleratedHardwareReady", "NvidiaXID31Error"), "in") << "a program's own";
  EXPECT_EQ(told("AcceleratedHardwareReady", "NvidiaXID79Error", XidPolicy::kIgnore), "in");
  EXPECT_EQ(told("AcceleratedHardwareReady", "NvidiaXIDError"), "out") << "which one, it hides";
  EXPECT_EQ(told("AcceleratedHardwareReady", "DCGMError"), "in") << "its agent is broken";
}

TEST(NodeHealth, OfANodeThatIsNotReadyAndInManyAtOnceConditionsMoveNothing) {
  SickCluster sick(10);
  say(sick, "n3", "GPUMissing", "");
  Node away = sick.node("n3");
  away.ready = false;
  sick.put(std::move(away));
  EXPECT_TRUE(sick.run().empty()) << "whoever said it is away as well";
  for (const char* name : {"n1", "n2", "n4"}) say(sick, name, "GPUMissing", "");
  sick.run();
  for (const char* name : {"n1", "n2", "n4"}) {
    EXPECT_FALSE(sick.is_out(name)) << "more than a fifth: what says so is broken";
    EXPECT_TRUE(sick.record(name)) << name;
  }
}

TEST(NodeHealth, ARestartForgetsNothing) {
  SickCluster sick(10);
  sick.xid("n3", 1, 79);
  sick.run();
  sick.restart();
  sick.pass(14min);
  EXPECT_TRUE(sick.is_out("n3"));
  sick.pass(2min);
  EXPECT_FALSE(sick.is_out("n3"));
  sick.restart();
  sick.pass(10min);
  sick.xid("n3", 1, 95);
  sick.run();
  sick.restart();
  sick.pass(29min);
  EXPECT_TRUE(sick.is_out("n3")) << "it broke again: the wait is doubled";
  sick.pass(2min);
  EXPECT_FALSE(sick.is_out("n3"));
}

TEST(NodeHealth, ADeletedPolicyPutsBrokenNodesBackOnlyUnderRemove) {
  SickCluster sick(10);
  sick.xid("n3", 1, 79);
  sick.run();
  ASSERT_TRUE(sick.is_out("n3"));
  sick.policy.meta.deletion_timestamp = sick.now;
  sick.run();
  EXPECT_TRUE(sick.is_out("n3"));
  sick.policy.spec.deletion_policy = PolicyDeletion::kRemove;
  sick.run();
  EXPECT_FALSE(sick.is_out("n3"));
}

TEST(NodeHealth, OnANodeThatNoPoolSelectsBerthTakesItsOwnBack) {
  SickCluster sick(10);
  sick.xid("n3", 1, 79);
  sick.xid("n4", 1, 999);
  sick.run();
  ASSERT_TRUE(sick.is_out("n3"));
  sick.policy.spec.pools.front().node_selector.match_labels = {{"no", "where"}};
  sick.run();
  EXPECT_FALSE(sick.is_out("n3"));
  EXPECT_FALSE(sick.node("n3").meta.annotations.contains(names::kHealthAnnotation));
  EXPECT_FALSE(sick.node("n4").meta.annotations.contains(names::kHealthAnnotation));
}

TEST(NodeHealth, ItStaysWhereARolloutHasIt) {
  SickCluster sick(10);
  Node taken = sick.node("n3");
  NodeRollout rollout{.seq = 1, .node_uid = taken.meta.uid, .phase = RolloutPhase::kApplying};
  rollout.since = sick.now;
  taken.meta.annotations.set(names::kRolloutAnnotation, encode_rollout(rollout));
  sick.put(std::move(taken));
  sick.xid("n3", 1, 79);
  sick.run();
  EXPECT_FALSE(sick.is_out("n3"));
  EXPECT_EQ(sick.record("n3")->phase, HealthPhase::kReported);
}

TEST(NodeHealth, DrainEvictsWhatHoldsGpus) {
  SickCluster sick(10);
  sick.policy.spec.health.action = HealthAction::kDrain;
  sick.cluster.upsert<Pod>(pod("p").gpu(1).on("n3"), sick.now);
  sick.xid("n3", 1, 79);
  sick.run();
  ASSERT_TRUE(sick.is_out("n3"));
  const std::string drain = print(sick.run());
  EXPECT_THAT(drain, HasSubstr("p"));
  EXPECT_THAT(drain, HasSubstr("drain node n3"));
}

}  // namespace
}  // namespace berth::test
