// SPDX-License-Identifier: Apache-2.0
// The plans of one node's rollout, word for word: what each patch tests, changes and says.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apis/base/names.h"
#include "tests/mig/planned_cluster.h"

namespace berth::test {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::HasSubstr;

// One reconcile of a key, without applying the plan.
class NodePlans : public ::testing::Test {
 protected:
  NodePlans() {
    world_.add_nodes(1).add(layout_);
    config_ = world_.render_agent_config("small");
  }
  // n1 is cordoned for the layout just now, and the API server has confirmed it.
  void cordon() {
    bring_to(RolloutPhase::kCordoned);
    world_.answers.put("jsonpatch Node/n1 uid-n1 berth-mig", {.yes = true, .at = world_.now});
  }
  void bring_to(RolloutPhase phase) {
    world_.claim("n1", "small");
    world_.add(on_its_way(n1(), layout_, config_, phase, world_.now));
  }
  Node n1() { return *world_.cluster.nodes().find("n1"); }

  MIGLayout layout_ = under_way(layout("small"));
  PlannedCluster world_;
  std::string config_;
};

TEST_F(NodePlans, TheClaimCarriesTheLedgersVersion) {
  EXPECT_THAT(print(world_.plan("layout/small")),
              HasSubstr("claim for MIGLayout small: n1 (no pod has to leave)\n"
                        R"(    {"metadata":{"uid":"uid-berth-node-slots","resourceVersion":"101"},)"
                        R"("data":{"n1":"{\"uid\":\"uid-n1\",\"holder\":\"MIGLayout/small\",)"
                        R"(\"seq\":1,\"epoch\":1,\"since\":\"2026-11-21T12:00:00.000000Z\"}"}})"));
}

TEST_F(NodePlans, TheCordonTestsUidCordonAndAnnotation) {
  world_.claim("n1", "small");
  EXPECT_EQ(
      print(world_.plan("node/n1")),
      fmt::format(
          "mergepatch Node/n1: record the node's GPUs while its labels show them\n"
          R"(    {{"metadata":{{"uid":"uid-n1","annotations":{{"gpu.berth.dev/gpu-inventory":)"
          R"("{{\"product\":\"NVIDIA-A100-SXM4-80GB\",\"count\":4,\"memoryMiB\":81920}}"}}}}}})"
          "\njsonpatch Node/n1: cordon for MIGLayout small\n"
          R"(    [{{"op":"test","path":"/metadata/uid","value":"uid-n1"}},)"
          R"({{"op":"test","path":"/metadata/annotations/gpu.berth.dev~1mig-rollout","value":null}},)"
          R"({{"op":"test","path":"/metadata/annotations/gpu.berth.dev~1hold","value":null}},)"
          R"({{"op":"test","path":"/spec/unschedulable","value":null}},)"
          R"({{"op":"add","path":"/spec/unschedulable","value":true}},)"
          R"({{"op":"add","path":"/metadata/annotations/gpu.berth.dev~1mig-rollout","value":)"
          R"("{{\"seq\":1,\"epoch\":1,\"uid\":\"uid-n1\",\"node\":\"n1\",)"
          R"(\"layoutUID\":\"uid-small\",)"
          R"(\"layout\":\"small\",)"
          R"(\"config\":\"{}\",\"previous\":\"all-disabled\",\"phase\":\"Cordoned\",)"
          R"(\"since\":\"2026-11-21T12:00:00.000000Z\",\"taken\":\"2026-11-21T12:00:00.000000Z\",)"
          R"(\"attempt\":0,\"reasserts\":0,\"berthCordoned\":true}}"}}])"
          "\nevent Normal Node/n1 Cordoned: cordoned for MIGLayout small, which asks for GPUs 0-3: "
          "1g.10gb ×7\n",
          config_));
}

TEST_F(NodePlans, TheLabelWaitsForBindingsInFlightAndIsGuarded) {
  cordon();
  EXPECT_EQ(print(world_.plan("node/n1")), "requeue in 5000ms\n");
  world_.now += seconds(5);
  const std::string plan = print(world_.plan("node/n1"));
  EXPECT_THAT(plan, HasSubstr("guard Node/n1: is the node still cordoned and ours, with no GPU pod "
                              "bound?\njsonpatch Node/n1: apply " +
                              config_));
  EXPECT_THAT(
      plan,
      HasSubstr(fmt::format(
          R"({{"op":"test","path":"/metadata/annotations/gpu.berth.dev~1hold","value":null}},)"
          R"({{"op":"test","path":"/spec/unschedulable","value":true}},)"
          R"({{"op":"test","path":"/metadata/labels/nvidia.com~1mig.config","value":"all-disabled"}},)"
          R"({{"op":"test","path":"/metadata/labels/nvidia.com~1mig.config.state","value":"success"}},)"
          R"({{"op":"add","path":"/metadata/labels/nvidia.com~1mig.config","value":"{}"}},)"
          R"({{"op":"remove","path":"/metadata/labels/nvidia.com~1mig.config.state"}},)",
          config_)));
  EXPECT_THAT(plan, HasSubstr(R"(\"phase\":\"Applying\")"));
  EXPECT_THAT(plan, HasSubstr(R"(mig-rollout","value":"{\"seq\":1)"));
}

TEST_F(NodePlans, BindingsInFlightAreWaitedForFromWhenTheCordonWasSeenToStand) {
  bring_to(RolloutPhase::kCordoned);  // the reply was lost, or went to another process
  world_.answers.put("jsonpatch Node/n1 uid-n1 berth-mig",
                     {.yes = true, .at = world_.now - seconds(1)});
  world_.now += seconds(4);
  const Plan plan = world_.plan("node/n1");
  EXPECT_EQ(print(plan), "guard Node/n1: is the node still cordoned?\nrequeue in 5000ms\n");
  const auto& look = std::get<Guard>(plan.objects.at(0).steps.at(0));
  EXPECT_EQ(look.refuse(n1(), {pod("late").gpu(1).on("n1")}), std::nullopt);
  Node other = n1();
  other.unschedulable.reset();
  EXPECT_EQ(look.refuse(other, {}), "the node is schedulable");
  other = n1();
  other.meta.annotations.set(names::kRolloutAnnotation, "{}");
  EXPECT_EQ(look.refuse(other, {}), "the rollout annotation has changed");
  other = n1();
  other.meta.uid = "another";
  EXPECT_EQ(look.refuse(other, {}), "the node was replaced by another of the same name");

  world_.answers.put(question(look), {.yes = true, .at = world_.now});
  world_.now += seconds(4);
  EXPECT_EQ(print(world_.plan("node/n1")), "requeue in 1000ms\n");
  world_.now += seconds(1);
  EXPECT_THAT(print(world_.plan("node/n1")), HasSubstr("jsonpatch Node/n1: apply " + config_));
}

TEST_F(NodePlans, ACordonOfLongAgoIsNotAskedAfter) {
  bring_to(RolloutPhase::kCordoned);
  world_.now += seconds(65);
  EXPECT_THAT(print(world_.plan("node/n1")), HasSubstr("is the node still cordoned?"));
  world_.now += seconds(1);
  EXPECT_THAT(print(world_.plan("node/n1")), HasSubstr("jsonpatch Node/n1: apply " + config_));
}

TEST_F(NodePlans, ASlotOfBeforeWhoseAnnotationIsGoneIsNoClaim) {
  world_.claim("n1", "small");
  world_.now += minutes(1);
  EXPECT_THAT(print(world_.plan("node/n1")), HasSubstr("cordon for MIGLayout small"));
  world_.now += seconds(1);
  EXPECT_THAT(print(world_.plan("node/n1")),
              HasSubstr("give the slot back: annotation gpu.berth.dev/mig-rollout is gone"));
}

TEST_F(NodePlans, TheGuardRefusesWhatTheCacheDidNotKnow) {
  cordon();
  world_.now += seconds(5);
  const Plan plan = world_.plan("node/n1");
  ASSERT_EQ(plan.objects.size(), 1u);
  const auto& guard = std::get<Guard>(plan.objects[0].steps[0]);
  const Node ours = n1();
  EXPECT_EQ(guard.refuse(ours, {}), std::nullopt);
  EXPECT_EQ(
      guard.refuse(ours, {pod("cpu").on("n1"), pod("done").gpu(1).phase(PodPhase::kSucceeded)}),
      std::nullopt);
  EXPECT_EQ(guard.refuse(ours, {pod("late").gpu(1).on("n1")}),
            "pod team-a/late is bound to the node");
  EXPECT_EQ(guard.refuse(ours, {pod("late").gpu(1).on("n1").terminating()}),
            "pod team-a/late is bound to the node");
  Node other = ours;
  other.unschedulable.reset();
  EXPECT_EQ(guard.refuse(other, {}), "the node is schedulable");
  other = ours;
  other.meta.uid = "another";
  EXPECT_EQ(guard.refuse(other, {}), "the node was replaced by another of the same name");
  other = ours;
  other.meta.annotations.set(names::kRolloutAnnotation, "{}");
  EXPECT_EQ(guard.refuse(other, {}), "the rollout annotation has changed");
}

TEST_F(NodePlans, EvictionsAreAskedFirstAndCarryTheUid) {
  layout_.spec.drain.grace_period_seconds = 7;
  world_.add(layout_).add(node("spare").a100_80(4)).add(pod("web").gpu(1).on("n1"));
  cordon();
  const Plan plan = world_.plan("node/n1");
  EXPECT_THAT(print(plan), HasSubstr("ask: may Pod/team-a/web be evicted\nevict Pod/team-a/web: "
                                     "drain node n1\n"));
  ASSERT_EQ(plan.objects.size(), 1u);
  const auto& evict = std::get<Write>(plan.objects[0].steps[1]);
  EXPECT_EQ(evict.object.uid, "uid-web");
  EXPECT_EQ(evict.grace_period_seconds, 7);
}

TEST_F(NodePlans, OfPodsOnlyTenantsAreItsBusiness) {
  world_.add(pod("agent").on("n1").owner("DaemonSet", "ds"));
  world_.add(pod("mirror").on("n1").annotation(names::kMirrorAnnotation, "x"));
  world_.add(pod("done").gpu(1).on("n1").phase(PodPhase::kSucceeded));
  world_.add(pod("cpu").requests("cpu", 1).on("n1"));
  world_.add(pod("zero").gpu(0).on("n1"));
  world_.add(pod("validator").gpu(1).on("n1").in("gpu-operator"));
  cordon();
  world_.now += seconds(5);
  EXPECT_THAT(print(world_.plan("node/n1")), HasSubstr("jsonpatch Node/n1: apply " + config_));
}

TEST_F(NodePlans, WhileItIsCutANodeInOthersHandsIsLeftAlone) {
  bring_to(RolloutPhase::kApplying);
  const Node applying = n1();
  world_.now += minutes(60);
  EXPECT_THAT(print(world_.plan("node/n1")), HasSubstr("give up"));
  Node upgraded = applying;
  upgraded.meta.labels.set(names::kDriverUpgradeState, "pod-restart-required");
  Node doomed = applying;
  doomed.taints.push_back({"ToBeDeletedByClusterAutoscaler", "", "NoSchedule"});
  for (const Node& node : {upgraded, doomed}) {
    world_.add(node);
    EXPECT_EQ(print(world_.plan("node/n1")), "");
  }
}

TEST_F(NodePlans, ANodeReturnsOnlyAsItWasVerified) {
  world_.add(
      on_its_way(n1(), layout_, names::kAllDisabled, RolloutPhase::kRollingBack, world_.now));
  world_.now += minutes(5);
  EXPECT_THAT(
      print(world_.plan("node/n1")),
      HasSubstr(
          R"({"op":"test","path":"/metadata/labels/nvidia.com~1mig.config","value":"all-disabled"},)"
          R"({"op":"test","path":"/metadata/labels/nvidia.com~1mig.config.state","value":"success"},)"
          R"({"op":"test","path":"/metadata/annotations/gpu.berth.dev~1hold","value":null},)"
          R"({"op":"test","path":"/spec/unschedulable","value":true},)"
          R"({"op":"remove","path":"/spec/unschedulable"})"));
}

TEST_F(NodePlans, WhoUncordonsANodeWhileItIsCutOwnsItsCordonFromThereOn) {
  bring_to(RolloutPhase::kApplying);
  Node node = n1();
  node.unschedulable.reset();
  world_.add(node);
  const std::string plan = print(world_.plan("node/n1"));
  EXPECT_THAT(plan, HasSubstr(R"({"op":"test","path":"/spec/unschedulable","value":null})"));
  EXPECT_THAT(plan, HasSubstr(R"(\"phase\":\"Applying\")"));
  EXPECT_THAT(plan, HasSubstr(R"(\"berthCordoned\":false)"));
}

TEST_F(NodePlans, ADeposedLeaderPlansNothing) {
  cordon();
  world_.now += minutes(30);
  ASSERT_FALSE(world_.plan("node/n1").empty());
  ConfigMap ledger = world_.ledger();
  ledger.meta.annotations.set(names::kEpochAnnotation, "2");
  world_.add(ledger);
  for (const char* key : {"node/n1", "layout/small", "slots", "agent-config"})
    EXPECT_EQ(print(world_.plan(key)), "") << key;
}

TEST_F(NodePlans, AKeyOfNothingPlansNothing) {
  for (const char* key : {"node/nobody", "layout/nobody"})
    EXPECT_EQ(world_.plan(key), Plan{}) << key;
}

}  // namespace
}  // namespace berth::test
