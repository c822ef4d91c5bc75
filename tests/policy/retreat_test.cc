// SPDX-License-Identifier: Apache-2.0
// Labels, taints and sharing that no pool asks for any more: when nodes lose them, with and without
// pods on their GPUs.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/policy/planned_policy.h"

namespace berth::test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

constexpr char kBlackout[] = "blackouts: [{schedule: \"0 8 * * *\", duration: 10h}]";
constexpr char kDefault[] = "Node/{}: the device plugin goes back to its default";
constexpr char kRemoved[] = "Node/{}: no pool asks for it any more";

class Retreats : public Policy {
 protected:
  Retreats() {
    serve(sliced_);
    for (int i = 1; i <= 3; ++i) cluster.add(shared(fmt::format("n{}", i), "time-slicing"));
  }
  // A node in dev with its plugin config, where GPU feature discovery shows `strategy`.
  NodeBuilder shared(const std::string& name, const std::string& strategy) const {
    return in_dev(name)
        .label(names::kDevicePluginConfig, render_plugin_config(sliced_.spec.pools[0])->key)
        .label(names::kGpuSharingStrategy, strategy);
  }
  // Its config is removed, but its labels and taints are not.
  NodeBuilder without_config(const std::string& name, const std::string& strategy) const {
    return in_dev(name).label(names::kGpuSharingStrategy, strategy);
  }
  void hold_gpus_of(const std::string& node) { cluster.add(pod("p-" + node).gpu(1).on(node)); }
  void apply(const std::string& spec) { cluster.add(policy(spec)); }
  void remove(std::string disruption) {
    GPUClusterPolicy going =
        policy(std::string(kSliced) + ", deletionPolicy: Remove, disruption: {" +
               std::move(disruption) + "}");
    going.meta.deletion_timestamp = cluster.now;
    cluster.add(going);
  }
  // Without writes of the file and of berth's finalizer.
  std::vector<std::string> node_writes() {
    std::vector<std::string> told = writes(cluster.plan("policy"));
    std::erase_if(told, [](const std::string& write) { return write.find("Node/") == write.npos; });
    return told;
  }
  static auto write(const char* what, const char* node) {
    return HasSubstr(fmt::format(fmt::runtime(what), node));
  }

  const GPUClusterPolicy sliced_ = policy(kSliced);
};

TEST_F(Retreats, InABlackoutOnlyNodesWhoseGpusNobodyHoldsLeaveARemovedPool) {
  hold_gpus_of("n1"), hold_gpus_of("n2");
  apply(fmt::format("pools: [], disruption: {{maxUnavailable: \"100%\", {}}}", kBlackout));
  EXPECT_THAT(node_writes(), ElementsAre(write(kDefault, "n3")));
  const Plan plan = cluster.plan("policy");
  EXPECT_THAT(status(plan), AllOf(HasSubstr("DisruptionWindow"),
                                  HasSubstr("no disruption before 2026-11-21T18:00:00Z")));
  EXPECT_EQ(plan.requeue_after, std::chrono::hours(6));
  cluster.now += std::chrono::hours(6);
  EXPECT_THAT(node_writes(), SizeIs(3));
}

TEST_F(Retreats, WhileBerthIsStoppedNoNodeLosesAnything) {
  cluster.stop("incident 4711");
  apply("pools: []");
  EXPECT_THAT(node_writes(), IsEmpty());
  for (const char* node : {"n1", "n2", "n3"}) cluster.add(without_config(node, "none"));
  EXPECT_THAT(node_writes(), IsEmpty());
  EXPECT_THAT(status(cluster.plan("policy")), HasSubstr("berth is stopped: incident 4711"));
  remove("maxUnavailable: 1");
  EXPECT_THAT(node_writes(), IsEmpty());
  cluster.resume();
  EXPECT_THAT(node_writes(), SizeIs(3));
}

TEST_F(Retreats, AndWhenItsSelectorIsNarrowed) {
  hold_gpus_of("n1");
  apply(
      fmt::format("pools: [{{name: dev, nodeSelector: {{matchLabels: {{tier: other}}}}, sharing: "
                  "{{strategy: TimeSlicing, replicas: 4}}}}], disruption: {{{}}}",
                  kBlackout));
  EXPECT_THAT(node_writes(), ElementsAre(write(kDefault, "n2"), write(kDefault, "n3")));
}

// One after the other, although the spec has no such pool any more: the second node waits until
// discovery shows that the first node's plugin is back.
TEST_F(Retreats, ARemovedPoolKeepsToMaxUnavailable) {
  for (const char* node : {"n1", "n2", "n3"}) hold_gpus_of(node);
  apply("pools: [], disruption: {maxUnavailable: 1}");
  EXPECT_THAT(node_writes(), ElementsAre(write(kDefault, "n1")));
  cluster.add(without_config("n1", "time-slicing"));
  EXPECT_THAT(node_writes(), IsEmpty());
  EXPECT_THAT(status(cluster.plan("policy")),
              HasSubstr("allows 1 of the 3 nodes of pool dev to be unavailable, and 1 are"));
  cluster.add(without_config("n1", "none"));
  EXPECT_THAT(node_writes(), ElementsAre(write(kRemoved, "n1"))) << "taints leave last";
  cluster.add(node("n1").a100_80(4).label("tier", "mig"));
  EXPECT_THAT(node_writes(), ElementsAre(write(kDefault, "n2")));
}

TEST_F(Retreats, APoolThatEndsItsSharingKeepsToMaxUnavailable) {
  for (const char* node : {"n1", "n2", "n3"}) hold_gpus_of(node);
  apply(
      "pools: [{name: dev, nodeSelector: {matchLabels: {tier: mig}}}], disruption: "
      "{maxUnavailable: 1}");
  EXPECT_THAT(node_writes(), ElementsAre(write(kDefault, "n1")));
  cluster.add(without_config("n1", "time-slicing"));
  EXPECT_THAT(node_writes(), IsEmpty());
  EXPECT_THAT(status(cluster.plan("policy")),
              HasSubstr("not yet offering GPUs as their pool says: n1, n2, n3 (3 nodes)"));
  cluster.add(without_config("n1", "none"));
  EXPECT_THAT(node_writes(), ElementsAre(write(kDefault, "n2")));
}

// The sharing that discovery then shows comes from an unknown file.
TEST_F(Retreats, NobodyWaitsForANodeWhoseDevicePluginReadsAnotherFile) {
  cluster.add(nvidia("theirs"));
  hold_gpus_of("n1"), hold_gpus_of("n2");
  apply("pools: [], disruption: {maxUnavailable: 1}");
  cluster.add(without_config("n1", "time-slicing"));
  EXPECT_THAT(node_writes(), ElementsAre(write(kDefault, "n3"), write(kRemoved, "n1")));
}

TEST_F(Retreats, ATaintOrLabelThatAPoolDropsWaitsForItsWindow) {
  const char* record =
      R"({"pool":"dev","labels":{"gpu.berth.dev/pool":"dev","team":"a"},"taints":[{"key":"t",)"
      R"("value":"","effect":"NoSchedule"}],"corrections":0})";
  for (const char* name : {"n1", "n2", "n3"}) {
    Node tainted = in_dev(name).label("team", "a");
    tainted.meta.annotations.set(names::kPoolKeysAnnotation, record);
    tainted.taints.push_back({"t", {}, "NoSchedule"});
    cluster.add(tainted);
  }
  hold_gpus_of("n1");
  const std::string pools = "pools: [{name: dev, nodeSelector: {matchLabels: {tier: mig}}}]";
  apply(fmt::format("{}, disruption: {{{}}}", pools, kBlackout));
  EXPECT_THAT(writes(cluster.plan("pool/n1")), IsEmpty());
  EXPECT_THAT(node_writes(), ElementsAre(write(kRemoved, "n2"), write(kRemoved, "n3")));
  EXPECT_THAT(status(cluster.plan("policy")),
              AllOf(HasSubstr("DisruptionWindow"),
                    HasSubstr("still with labels or taints that no pool asks for: n1")));
  apply(pools);
  EXPECT_THAT(node_writes(), SizeIs(3));
}

// Its labels were removed by hand, or its record was overwritten: otherwise the policy would never
// go.
TEST_F(Retreats, ARecordThatIsOutOfDateGoesAtOnce) {
  remove(kBlackout);
  for (const char* node : {"n1", "n2"}) hold_gpus_of(node);
  cluster.add(
      node("n1")
          .a100_80(4)
          .label("tier", "mig")
          .annotation(
              names::kPoolKeysAnnotation,
              R"({"pool":"dev","labels":{"gpu.berth.dev/pool":"dev"},"taints":[],"corrections":0})"));
  cluster.add(
      node("n2").a100_80(4).label("tier", "mig").annotation(names::kPoolKeysAnnotation, "{}"));
  EXPECT_THAT(node_writes(),
              ElementsAre(write(kDefault, "n3"), write(kRemoved, "n1"), write(kRemoved, "n2")));
}

TEST_F(Retreats, ADeletedPolicyKeepsToItsBlackoutAndItsBudgetWhileItRemoves) {
  for (const char* node : {"n1", "n2", "n3"}) hold_gpus_of(node);
  remove(fmt::format("maxUnavailable: \"100%\", {}", kBlackout));
  EXPECT_THAT(node_writes(), IsEmpty());
  EXPECT_THAT(status(cluster.plan("policy")),
              AllOf(HasSubstr("Retreating"), HasSubstr("3 nodes and 0 PriorityClasses still carry"),
                    HasSubstr("no disruption before 2026-11-21T18:00:00Z")));
  remove("maxUnavailable: 1");
  EXPECT_THAT(node_writes(), ElementsAre(write(kDefault, "n1")));
  cluster.add(without_config("n1", "time-slicing"));
  EXPECT_THAT(node_writes(), IsEmpty());
}

}  // namespace
}  // namespace berth::test
