// SPDX-License-Identifier: Apache-2.0
// The plans of one node's way, word for word: what each patch tests, changes and says.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controller/mig/reconcile.h"
#include "tests/mig/rollout_world.h"

namespace berth::test {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;

// One reconcile of a key on the world as it stands, applied by nobody.
class NodePlans : public ::testing::Test {
 protected:
  NodePlans() {
    world_.add_nodes(1);
    world_.add(layout("small"));
  }
  void run_to(const std::string& phase) {
    ASSERT_TRUE(world_.run_until([&] { return world_.phase("n1") == phase; })) << phase;
  }
  std::string config() { return world_.layout("small")->status.configs.at(0).name; }

  RolloutWorld world_;
};

TEST_F(NodePlans, TheClaimCarriesTheLedgersVersion) {
  std::string claim;
  world_.after_write = [&](const std::string& write) {
    if (write.find("see its nodes back") != write.npos) {
      for (const ObjectSteps& object : world_.plan("layout/small").objects)
        for (const Step& step : object.steps)
          if (const auto* written = std::get_if<Write>(&step))
            claim = written->reason + "\n" + written->body;
    }
  };
  const std::string version =
      world_.cluster.config_maps().find("berth-system", "berth-node-slots")->meta.resource_version;
  const std::string uid =
      world_.cluster.config_maps().find("berth-system", "berth-node-slots")->meta.uid;
  run_to("Cordoned");
  EXPECT_EQ(claim,
            fmt::format("claim for MIGLayout small: n1 (no pod has to leave)\n"
                        R"({{"metadata":{{"uid":"{}","resourceVersion":"{}"}},)"
                        R"("data":{{"n1":"{{\"uid\":\"uid-n1\",\"holder\":\"MIGLayout/small\",)"
                        R"(\"seq\":1,\"epoch\":1,\"since\":\"2026-11-21T12:00:00.000000Z\"}}"}}}})",
                        uid, version));
}

TEST_F(NodePlans, TheCordonTestsUidCordonAndAnnotation) {
  std::string plan;
  world_.after_write = [&](const std::string& write) {
    if (write.find("claim for") != write.npos) plan = print(world_.plan("node/n1"));
  };
  run_to("Cordoned");
  EXPECT_EQ(
      plan,
      fmt::format(
          "mergepatch Node/n1: record the node's GPUs while the labels tell them\n"
          R"(    {{"metadata":{{"uid":"uid-n1","annotations":{{"gpu.berth.dev/gpu-inventory":)"
          R"("{{\"product\":\"NVIDIA-A100-SXM4-80GB\",\"count\":4,\"memoryMiB\":81920}}"}}}}}})"
          "\njsonpatch Node/n1: cordon for MIGLayout small\n"
          R"(    [{{"op":"test","path":"/metadata/uid","value":"uid-n1"}},)"
          R"({{"op":"test","path":"/metadata/annotations/gpu.berth.dev~1mig-rollout","value":null}},)"
          R"({{"op":"test","path":"/spec/unschedulable","value":null}},)"
          R"({{"op":"add","path":"/spec/unschedulable","value":true}},)"
          R"({{"op":"add","path":"/metadata/annotations/gpu.berth.dev~1mig-rollout","value":)"
          R"("{{\"seq\":1,\"epoch\":1,\"layoutUID\":\"uid-small\",\"layout\":\"small\",)"
          R"(\"config\":\"{}\",\"previous\":\"all-disabled\",\"phase\":\"Cordoned\",)"
          R"(\"since\":\"2026-11-21T12:00:00.000000Z\",\"taken\":\"2026-11-21T12:00:00.000000Z\",)"
          R"(\"attempt\":0,\"reasserts\":0,\"berthCordoned\":true}}"}}])"
          "\nevent Normal Node/n1 Cordoned: cordoned for MIGLayout small: to become GPUs 0-3: "
          "1g.10gb ×7\n",
          config()));
}

TEST_F(NodePlans, TheLabelWaitsForBindingsInFlightAndIsGuarded) {
  run_to("Cordoned");
  EXPECT_EQ(print(world_.plan("node/n1")), "requeue in 5000ms\n");
  world_.now += seconds(5);
  const std::string plan = print(world_.plan("node/n1"));
  EXPECT_THAT(plan, HasSubstr("guard Node/n1: is the node still cordoned and ours, with no GPU pod "
                              "bound?\njsonpatch Node/n1: apply " +
                              config()));
  EXPECT_THAT(
      plan,
      HasSubstr(fmt::format(
          R"({{"op":"test","path":"/spec/unschedulable","value":true}},)"
          R"({{"op":"test","path":"/metadata/labels/nvidia.com~1mig.config","value":"all-disabled"}},)"
          R"({{"op":"add","path":"/metadata/labels/nvidia.com~1mig.config","value":"{}"}},)"
          R"({{"op":"test","path":"/metadata/labels/nvidia.com~1mig.config.state","value":"success"}},)"
          R"({{"op":"remove","path":"/metadata/labels/nvidia.com~1mig.config.state"}},)",
          config())));
  EXPECT_THAT(plan, HasSubstr(R"(\"phase\":\"Applying\")"));
  EXPECT_THAT(plan, HasSubstr(R"(mig-rollout","value":"{\"seq\":1)"));
}

TEST_F(NodePlans, TheGuardRefusesWhatTheCacheDidNotKnow) {
  run_to("Cordoned");
  world_.now += seconds(5);
  const Plan plan = world_.plan("node/n1");
  ASSERT_EQ(plan.objects.size(), 1u);
  const auto& guard = std::get<Guard>(plan.objects[0].steps[0]);
  const Node ours = world_.node("n1");
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
  EXPECT_EQ(guard.refuse(other, {}), "the node is another one of the same name");
  other = ours;
  other.meta.annotations.set(names::kRolloutAnnotation, "{}");
  EXPECT_EQ(guard.refuse(other, {}), "the rollout annotation has changed");
}

TEST_F(NodePlans, EvictionsAreAskedFirstAndCarryTheUid) {
  world_.change_layout("small", [](MIGLayoutSpec& s) { s.drain.grace_period_seconds = 7; });
  world_.add(node("spare").a100_80(4)).add(pod("web").gpu(1).on("n1"));
  std::string plan;
  Plan raw;
  world_.after_write = [&](const std::string& write) {
    if (write.find("cordon for") == write.npos) return;
    raw = world_.plan("node/n1");
    plan = print(raw);
  };
  run_to("Cordoned");
  EXPECT_THAT(plan, HasSubstr("ask: may Pod/team-a/web be evicted\nevict Pod/team-a/web: drain "
                              "node n1\n"));
  ASSERT_EQ(raw.objects.size(), 1u);
  const auto& evict = std::get<Write>(raw.objects[0].steps[1]);
  EXPECT_EQ(evict.object.uid, "uid-web");
  EXPECT_EQ(evict.grace_period_seconds, 7);
}

}  // namespace
}  // namespace berth::test
