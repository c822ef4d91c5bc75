// SPDX-License-Identifier: Apache-2.0
// Which nodes take up another sharing config, and when.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/policy/planned_policy.h"

namespace berth::test {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

TEST_F(Policy, WherePodsHoldGpusOnlyTheBudgetChangesAtOnce) {
  const GPUClusterPolicy sliced =
      policy(std::string(kSliced) + ", disruption: {maxUnavailable: 2}");
  cluster.add(sliced);
  add_dev_nodes(5);
  serve(sliced);
  EXPECT_THAT(labelled(), SizeIs(5)) << "nobody is disturbed on empty nodes";
  for (int i = 1; i <= 5; ++i)
    cluster.add(pod(fmt::format("p{}", i)).gpu(1).on(fmt::format("n{}", i)));
  EXPECT_THAT(labelled(), SizeIs(2));
  cluster.add(in_dev("n5").cordoned());
  EXPECT_THAT(labelled(), SizeIs(2)) << "n5 is out already, and costs nothing more: n1 and n5";
  EXPECT_THAT(status(cluster.plan("policy")),
              HasSubstr("allows 2 of the 5 nodes of pool dev to be unavailable"));
}

TEST_F(Policy, FiftyNodesAreLabelledAtOnceAndTheOthersByTheNextPlans) {
  const GPUClusterPolicy sliced = policy(kSliced);
  cluster.add(sliced);
  add_dev_nodes(52);
  serve(sliced);
  EXPECT_THAT(labelled(), SizeIs(50));
  EXPECT_THAT(status(cluster.plan("policy")), HasSubstr("other nodes are labelled first"));
}

// Labelled, but GPU feature discovery still reports the old sharing.
TEST_F(Policy, ANodeThatHasNotTakenUpItsConfigCountsAsOut) {
  const GPUClusterPolicy sliced =
      policy(std::string(kSliced) + ", disruption: {maxUnavailable: 1}");
  cluster.add(sliced).add_nodes(2);
  serve(sliced);
  const std::string key = render_plugin_config(sliced.spec.pools[0])->key;
  Node settling = node("n1")
                      .a100_80(4)
                      .label("tier", "mig")
                      .label(names::kDevicePluginConfig, key)
                      .label(names::kGpuSharingStrategy, "none");
  cluster.add(settling).add(pod("p1").gpu(1).on("n1")).add(pod("p2").gpu(1).on("n2"));
  EXPECT_THAT(labelled(), IsEmpty());
  settling.meta.labels.set(names::kGpuSharingStrategy, "time-slicing");
  cluster.add(settling);
  EXPECT_THAT(labelled(), SizeIs(1));
}

TEST_F(Policy, NoSharingChangesWhileBerthIsStopped) {
  const GPUClusterPolicy sliced = policy(kSliced);
  cluster.add(sliced);
  add_dev_nodes(2);
  EXPECT_THAT(writes(cluster.plan("policy")), Contains(HasSubstr(" ConfigMap/")));
  cluster.stop("incident 4711");
  EXPECT_THAT(writes(cluster.plan("policy")), IsEmpty());
  serve(sliced);
  const Plan plan = cluster.plan("policy");
  EXPECT_THAT(writes(plan), IsEmpty());
  EXPECT_THAT(status(plan),
              AllOf(HasSubstr(R"("reason":"OperationsStopped")"), HasSubstr(R"("type":"Stopped")"),
                    HasSubstr("berth is stopped: incident 4711"),
                    Not(HasSubstr(R"("type":"Reconciling")")), Not(HasSubstr("Stalled"))));
  cluster.resume();
  EXPECT_THAT(labelled(), SizeIs(2));
  EXPECT_THAT(status(cluster.plan("policy")), Not(HasSubstr("Stopped")));
}

TEST_F(Policy, OutsideTheWindowsNoPodIsDisturbed) {
  const GPUClusterPolicy sliced = policy(
      std::string(kSliced) + ", disruption: {windows: [{schedule: \"0 22 * * *\", duration: 2h}]}");
  cluster.add(sliced).add(pod("p1").gpu(1).on("n1"));
  add_dev_nodes(2);
  serve(sliced);
  const Plan plan = cluster.plan("policy");
  EXPECT_THAT(writes(plan), SizeIs(1)) << "n2 is empty";
  EXPECT_THAT(status(plan), AllOf(HasSubstr("no disruption before 2026-11-21T22:00:00Z"),
                                  HasSubstr(R"("nextOpening":"2026-11-21T22:00:00Z")")));
  EXPECT_EQ(plan.requeue_after, std::chrono::hours(10));
}

TEST_F(Policy, NoNodeTakesUpATextThatSomebodyEdited) {
  const GPUClusterPolicy sliced = policy(kSliced);
  cluster.add(sliced);
  add_dev_nodes(2);
  serve(sliced);
  ASSERT_THAT(labelled(), SizeIs(2));
  ConfigMap file =
      *cluster.cluster.config_maps().find("gpu-operator", "berth-device-plugin-config");
  const std::string key = render_plugin_config(sliced.spec.pools[0])->key;
  file.data.at(key) += "# mine\n";
  cluster.add(file);
  EXPECT_THAT(labelled(), IsEmpty());
  EXPECT_THAT(writes(cluster.plan("policy")), Contains(HasSubstr(" ConfigMap/")))
      << "it is written anew first";
  file.data.erase(key);
  cluster.add(file);
  EXPECT_THAT(labelled(), IsEmpty());
}

// The kubelet updates a mounted file within a minute and a half.
TEST_F(Policy, NodesFollowOnceTheFileHasReachedThem) {
  const GPUClusterPolicy sliced = policy(kSliced);
  cluster.add(sliced);
  add_dev_nodes(2);
  serve(sliced);
  ConfigMap file =
      *cluster.cluster.config_maps().find("gpu-operator", "berth-device-plugin-config");
  const auto labelled_after = [&](Duration ago) {
    file.meta.annotations.set(kRenderedAt, format_micro_time(cluster.now - ago));
    cluster.add(file);
    return labelled().size();
  };
  using namespace std::chrono_literals;
  EXPECT_EQ(labelled_after(0s), 0u);
  EXPECT_EQ(labelled_after(90s - 1ms), 0u);
  EXPECT_EQ(labelled_after(90s), 2u);
  EXPECT_EQ(labelled_after(-1h), 2u) << "a clock that was wrong stops nothing";
  file.meta.annotations.set(kRenderedAt, "soon");
  cluster.add(file);
  EXPECT_THAT(labelled(), SizeIs(2));
}

TEST_F(Policy, AForeignPluginConfigIsLeftAloneAndTold) {
  const GPUClusterPolicy sliced = policy(kSliced);
  cluster.add(sliced).add(
      node("n1").a100_80(4).label("tier", "mig").label(names::kDevicePluginConfig, "theirs"));
  serve(sliced);
  ConfigMap file =
      *cluster.cluster.config_maps().find("gpu-operator", "berth-device-plugin-config");
  file.data["theirs"] = "version: v1\n";
  cluster.add(file);
  const Plan plan = cluster.plan("policy");
  EXPECT_THAT(writes(plan), IsEmpty());
  EXPECT_THAT(status(plan), AllOf(HasSubstr("KeysContested"),
                                  HasSubstr("n1: label nvidia.com/device-plugin.config")));
}

// --- the file that the device plugin reads ---

struct Reader {
  const char* says;
  std::string mounted;  // mounted by the device plugin's DaemonSet
  std::optional<ClusterPolicy> nvidia;
  bool reads;
};

const std::vector<Reader> kReaders = {
    {"ClusterPolicy names it", "", nvidia("berth-device-plugin-config"), true},
    {"ClusterPolicy names another", "berth-device-plugin-config", nvidia("theirs"), false},
    {"ClusterPolicy names none, and nobody mounts it", "", nvidia(""), false},
    {"ClusterPolicy names none, and the plugin mounts it", "berth-device-plugin-config", nvidia(""),
     true},
    {"there is no ClusterPolicy, and nobody mounts it", "theirs", std::nullopt, false},
    {"there is no ClusterPolicy, and the plugin mounts it", "berth-device-plugin-config",
     std::nullopt, true},
};

// A missing key stops the plugin, and all GPUs of the node with it.
TEST_F(Policy, NoNodeIsToldToTakeUpAConfigBeforeTheDevicePluginReadsIt) {
  for (const Reader& reader : kReaders) {
    SCOPED_TRACE(reader.says);
    cluster = PlannedCluster();
    cluster.add(policy(kSliced)).add(device_plugin(reader.mounted));
    if (reader.nvidia) cluster.add(*reader.nvidia);
    add_dev_nodes(2);
    EXPECT_THAT(writes(cluster.plan("policy")), Contains(HasSubstr("create ConfigMap/")))
        << "it has to be there before the plugin's pods can start";
    serve(policy(kSliced));
    EXPECT_THAT(labelled(), SizeIs(reader.reads ? 2 : 0));
    if (reader.reads) continue;
    EXPECT_THAT(status(cluster.plan("policy")),
                AllOf(HasSubstr(R"("type":"Stalled","status":"True")"),
                      HasSubstr("PluginNotConfigured"), HasSubstr("pool dev")));
  }
}

TEST_F(Policy, TheLineToRunIsTold) {
  cluster.add(policy(kSliced)).add(nvidia("theirs"));
  add_dev_nodes(1);
  EXPECT_THAT(status(cluster.plan("policy")),
              HasSubstr("kubectl patch clusterpolicy cluster-policy --type merge -p "
                        R"('{\"spec\":{\"devicePlugin\":{\"config\":{\"name\":)"
                        R"(\"berth-device-plugin-config\",\"default\":\"default\"}}}}')"));
}

TEST_F(Policy, BackToTheDefaultANodeMayGoWhateverThePluginReads) {
  cluster.add(policy("pools: []")).add(nvidia("theirs"));
  cluster.add(node("n1").a100_80(4).label(names::kDevicePluginConfig, "dev-0123abcd"));
  EXPECT_THAT(labelled(), SizeIs(1));
}

TEST_F(Policy, ADefaultOfSomebodyElsesIsLeftAndTold) {
  serve(policy(kSliced));
  ConfigMap file =
      *cluster.cluster.config_maps().find("gpu-operator", "berth-device-plugin-config");
  file.data["default"] = "version: v1\nsharing: {timeSlicing: {resources: []}}\n";
  cluster.add_nodes(1).add(policy(kSliced)).add(file).add(nvidia("berth-device-plugin-config"));
  const Plan plan = cluster.plan("policy");
  EXPECT_THAT(writes(plan), Each(Not(HasSubstr(" ConfigMap/"))));
  EXPECT_THAT(status(plan),
              AllOf(HasSubstr("PluginDefaultTaken"),
                    HasSubstr("key default of ConfigMap gpu-operator/berth-device-plugin-config"),
                    HasSubstr("spec.agents.devicePluginConfigMap")));
}

TEST_F(Policy, NodesThatDoNotShareYetAreNamed) {
  cluster.add(policy(kSliced));
  serve(policy(kSliced));
  add_dev_nodes(5);
  EXPECT_THAT(status(cluster.plan("policy")),
              HasSubstr("not yet offering GPUs as their pool says: n1, n2, n3, … (5 nodes)"));
}

}  // namespace
}  // namespace berth::test
