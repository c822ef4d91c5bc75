// SPDX-License-Identifier: Apache-2.0
// Events for users who describe the policy, from each status change.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controller/policy/plugin_config.h"
#include "tests/mig/planned_cluster.h"
#include "tests/policy/policy_yaml.h"

namespace berth::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

constexpr char kWhole[] = "pools: [{name: dev, nodeSelector: {matchLabels: {tier: mig}}}]";
constexpr char kSliced[] =
    "pools: [{name: dev, nodeSelector: {matchLabels: {tier: mig}}, sharing: {strategy: "
    "TimeSlicing, replicas: 4}}]";

class PolicyEvents : public ::testing::Test {
 protected:
  std::vector<std::string> told() { return world_.write_status("policy"); }
  // Changes the policy's spec and keeps its status.
  void edit(const std::string& spec) {
    GPUClusterPolicy next = policy(spec);
    if (const GPUClusterPolicy* now = world_.cluster.gpu_policies().find("cluster")) {
      next.status = now->status;
      next.meta.generation = now->meta.generation + 1;
    }
    world_.add(next);
  }
  void let_nodes_show_their_pool(int count) {
    for (int i = 1; i <= count; ++i)
      world_.add(node(fmt::format("n{}", i))
                     .a100_80(4)
                     .label("tier", "mig")
                     .label(names::kPoolLabel, "dev")
                     .annotation(names::kPoolKeysAnnotation,
                                 R"({"pool":"dev","labels":{"gpu.berth.dev/pool":"dev"},)"
                                 R"("taints":[],"corrections":0})"));
  }
  PlannedCluster world_;
};

TEST_F(PolicyEvents, PoolsAreToldOnceTheyAreInPlace) {
  world_.add_nodes(2);
  edit(kWhole);
  EXPECT_THAT(told(), IsEmpty());
  let_nodes_show_their_pool(2);
  EXPECT_THAT(told(), ElementsAre(StartsWith("Normal PoolsInPlace: ")));
  EXPECT_THAT(told(), IsEmpty());
}

TEST_F(PolicyEvents, LabelsThatArePutAreToldWhereSomethingElseIsLeft) {
  world_.add_nodes(2);
  PriorityClass theirs;
  theirs.meta.name = "theirs";
  theirs.meta.uid = "theirs";
  theirs.value = 9;
  world_.add(theirs);
  edit(std::string(kWhole) + ", priorityClasses: [{name: theirs, value: 1}]");
  told();
  let_nodes_show_their_pool(2);
  EXPECT_THAT(
      told(),
      ElementsAre("Normal PoolsLabelled: 2 nodes carry the labels and taints of their pools",
                  StartsWith("Warning PolicyBlocked: PriorityClassTaken: ")));
  world_.now += std::chrono::minutes(5);
  EXPECT_THAT(told(), IsEmpty());
}

TEST_F(PolicyEvents, AWindowThatIsWaitedForIsNoWarning) {
  let_nodes_show_their_pool(1);
  world_.add(pod("p").on("n1").gpu(1));
  DaemonSet plugin;
  plugin.meta.name = "nvidia-device-plugin-daemonset";
  plugin.meta.namespace_ = "gpu-operator";
  plugin.meta.uid = "uid-plugin";
  plugin.config_map_volumes = {Text("berth-device-plugin-config")};
  ConfigMap file;
  file.meta.name = "berth-device-plugin-config";
  file.meta.namespace_ = "gpu-operator";
  file.meta.uid = "uid-file";
  file.meta.annotations.set("gpu.berth.dev/rendered-at", "2026-11-20T12:00:00.000000Z");
  file.data = plugin_configs(policy(kSliced).spec.pools, {}, {});
  world_.add(plugin).add(file);
  edit(std::string(kSliced) +
       ", disruption: {blackouts: [{schedule: \"0 8 * * *\", duration: 10h}]}");
  EXPECT_THAT(told(), ElementsAre(StartsWith("Normal PolicyBlocked: DisruptionWindow: ")));
  world_.now += std::chrono::hours(7);
  EXPECT_THAT(told(), IsEmpty()) << "it goes on";
}

TEST_F(PolicyEvents, AWrongFieldIsAWarning) {
  edit(
      "disruption: {blackouts: [{schedule: \"0 8 * * *\", duration: 1h, timeZone: Mars/Olympus}]}");
  EXPECT_THAT(told(), ElementsAre(HasSubstr("Warning PolicyBlocked: PolicyInvalid: spec.disru")));
}

TEST_F(PolicyEvents, ItsEndIsTold) {
  let_nodes_show_their_pool(1);
  edit(kWhole);
  told();
  GPUClusterPolicy going = *world_.cluster.gpu_policies().find("cluster");
  going.meta.deletion_timestamp = world_.now;
  going.spec.deletion_policy = PolicyDeletion::kRemove;
  world_.add(going);
  EXPECT_THAT(told(), ElementsAre(StartsWith("Normal Deleting: 1 node and 0 Pri")));
  EXPECT_THAT(told(), IsEmpty());
  world_.add(node("n1").a100_80(4).label("tier", "mig"));
  const Plan plan = world_.plan("policy");
  ASSERT_EQ(plan.events.size(), 1u);
  EXPECT_EQ(plan.events.front().reason, "Deleted");
}

}  // namespace
}  // namespace berth::test
