// SPDX-License-Identifier: Apache-2.0
// What one node's reconcile plans for its pool, and which taints a pool may set.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apis/base/reasons.h"
#include "controller/policy/pool_intent.h"
#include "tests/mig/planned_cluster.h"
#include "tests/policy/policy_yaml.h"

namespace berth::test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr char kDev[] =
    "pools: [{name: dev, nodeSelector: {matchLabels: {tier: mig}}, labels: {team: a}}]";

struct PoolNode : ::testing::Test {
  PoolNode() { world.add(policy(kDev)).add_nodes(1); }
  std::string plan(const char* node = "n1") {
    return print(world.plan(std::string("pool/") + node));
  }
  void set_label(const char* key, const char* value) {
    Node node = *world.cluster.nodes().find("n1");
    node.meta.labels.set(key, value);
    world.add(node);
  }
  // n1 after its pool's patch.
  void settle() {
    Node node = *world.cluster.nodes().find("n1");
    node.meta.labels.set(names::kPoolLabel, "dev");
    node.meta.labels.set("team", "a");
    node.meta.annotations.set(names::kPoolKeysAnnotation,
                              R"({"pool":"dev","labels":{"gpu.berth.dev/pool":"dev","team":"a"},)"
                              R"("taints":[],"corrections":0})");
    world.add(node);
  }
  PlannedCluster world;
};

TEST_F(PoolNode, GetsWhatItsPoolAsksForAndThenNothing) {
  EXPECT_THAT(plan(), AllOf(HasSubstr("jsonpatch Node/n1: the node belongs to pool dev"),
                            Not(HasSubstr("event"))));
  settle();
  EXPECT_EQ(plan(), "");
  EXPECT_EQ(plan("nobody"), "");
}

TEST_F(PoolNode, NothingOnItChangesWhileBerthIsStopped) {
  world.stop("incident 4711");
  EXPECT_EQ(plan(), "");
  world.resume();
  EXPECT_THAT(plan(), HasSubstr("the node belongs to pool dev"));
}

TEST_F(PoolNode, WhatSomebodyChangedIsPutBackAndTold) {
  settle();
  set_label("team", "b");
  EXPECT_THAT(plan(),
              AllOf(HasSubstr("restore what pool dev sets and somebody changed: label team"),
                    HasSubstr("event Warning Node/n1 PoolKeysCorrected: restored, as pool "
                              "dev sets it: label team")));
}

// The policy's reconciler removes labels and taints, within its budgets.
TEST_F(PoolNode, KeepsWhatNoPoolWantsAnyMoreAndTakesUpTheRest) {
  settle();
  set_label("tier", "other");
  EXPECT_EQ(plan(), "");
  world.cluster.erase<GPUClusterPolicy>("", "cluster");
  EXPECT_EQ(plan(), "");
  set_label("tier", "mig");
  world.add(policy("pools: [{name: lab, nodeSelector: {}, labels: {group: b}}]"));
  EXPECT_THAT(plan(),
              AllOf(HasSubstr(R"("path":"/metadata/labels/gpu.berth.dev~1pool","value":"lab")"),
                    HasSubstr(R"("path":"/metadata/labels/group","value":"b")"),
                    HasSubstr(R"(\"team\":\"a\")"), Not(HasSubstr(R"("op":"remove")"))));
}

TEST_F(PoolNode, ANodeWithoutGpusIsNobodys) {
  world.add(node("bare").label("tier", "mig"));
  EXPECT_EQ(plan("bare"), "");
}

// Nodes of an autoscaler are labelled by their group's template, minutes before GPU feature
// discovery sees them. Karpenter's nodes show GPUs at once, those of Cluster Autoscaler show none.
TEST_F(PoolNode, ANodeThatComesWithThePoolsLabelKeepsItBeforeItsGpusAreDiscovered) {
  for (const int gpus : {8, 0}) {
    SCOPED_TRACE(gpus);
    NodeBuilder fresh = node("fresh").label("tier", "mig").label(names::kPoolLabel, "dev");
    if (gpus > 0) fresh.allocatable("nvidia.com/gpu", gpus);
    world.add(fresh);
    EXPECT_THAT(plan("fresh"),
                AllOf(HasSubstr("jsonpatch Node/fresh: the node belongs to pool dev"),
                      Not(HasSubstr(R"("op":"remove")"))));
    world.add(fresh.label("tier", "other"));
    EXPECT_EQ(plan("fresh"), "") << "of no pool, it keeps the label that berth did not put there";
    world.cluster.erase<GPUClusterPolicy>("", "cluster");
    EXPECT_EQ(plan("fresh"), "");
    world.add(policy(kDev));
  }
}

TEST_F(PoolNode, ANodeThatOffersGpusIsLabelledThoughDiscoveryHasNotSeenIt) {
  world.add(node("bare").label("tier", "mig").allocatable("nvidia.com/gpu", 8));
  EXPECT_THAT(plan("bare"), HasSubstr("jsonpatch Node/bare: the node belongs to pool dev"));
}

// The node's labels are removed while feature discovery restarts.
TEST_F(PoolNode, ANodeOfThePoolKeepsItsLabelWhileDiscoverysLabelsAreGone) {
  settle();
  const Node whole = *world.cluster.nodes().find("n1");
  Node pruned = whole;
  pruned.allocatable = {};
  for (const auto& [key, value] : whole.meta.labels)
    if (key.view().starts_with("nvidia.com/")) pruned.meta.labels.erase(key.view());
  world.add(pruned);
  EXPECT_EQ(plan(), "");
}

TEST_F(PoolNode, APolicyThatBreaksItsRulesLeavesWhatStands) {
  settle();
  GPUClusterPolicy broken = policy(kDev);
  broken.spec.pools.front().node_selector = LabelSelector{{{"tier", "other"}}, {}};
  broken.spec.pools.front().sharing.replicas = 3;  // there is no shared resource
  world.add(broken);
  EXPECT_EQ(plan(), "");
}

// --- taints ---

struct PoolTaints : ::testing::Test {
  // "key:effect" of the taints that berth sets, and of those that it holds back.
  std::pair<std::vector<std::string>, std::vector<std::string>> taints() {
    const GPUClusterPolicy of = policy(
        "pools: [{name: dev, nodeSelector: {matchLabels: {tier: mig}}, taints: [{key: a, effect: "
        "NoSchedule}, {key: b, effect: PreferNoSchedule}]}]");
    const PoolIntent intent = intent_of(of.spec.pools.front(), agent_tolerations(world.snapshot()));
    std::vector<std::string> put, held;
    for (const auto& [item, value] : intent.items)
      if (!item.is_label()) put.push_back(item.str());
    for (const Taint& taint : intent.held_back) held.push_back(taint.key.str());
    return {put, held};
  }
  void add_set(const char* name, const char* app, const char* namespace_, bool tolerant) {
    DaemonSet set;
    set.meta.name = name;
    set.meta.namespace_ = namespace_;
    set.meta.labels.set("app", app);
    if (tolerant) set.tolerations = {{"a", "Exists", "", "NoSchedule"}};
    world.add(set);
  }
  PlannedCluster world;
};

TEST_F(PoolTaints, OneThatAnAgentOfNvidiasDoesNotTolerateIsHeldBack) {
  world.cluster.erase<DaemonSet>("gpu-operator", "nvidia-mig-manager");
  const std::vector<std::string> both{"taint a:NoSchedule", "taint b:PreferNoSchedule"};
  EXPECT_EQ(taints().first, both) << "there are no agents";
  add_set("plugin", "nvidia-device-plugin-daemonset", "gpu-operator", true);
  add_set("theirs", "logs", "gpu-operator", false);
  add_set("far", "nvidia-device-plugin-daemonset", "elsewhere", false);
  EXPECT_EQ(taints().first, both);
  add_set("discovery", "gpu-feature-discovery", "gpu-operator", false);
  EXPECT_THAT(taints().first, ElementsAre("taint b:PreferNoSchedule"));
  EXPECT_THAT(taints().second, ElementsAre("a"));
  add_set("discovery", "gpu-feature-discovery", "gpu-operator", true);
  EXPECT_EQ(taints().first, both);
  add_set("plugin", "nvidia-device-plugin-daemonset", "gpu-operator", false);
  EXPECT_THAT(taints().second, ElementsAre("a"));
}

TEST_F(PoolTaints, NvidiasPolicyTellsForAllOfItsAgents) {
  add_set("plugin", "nvidia-device-plugin-daemonset", "gpu-operator", false);
  ClusterPolicy nvidia;
  nvidia.meta.name = "cluster-policy";
  nvidia.operand_tolerations = {{"a", "Exists", "", "NoSchedule"}};
  world.add(nvidia);
  EXPECT_THAT(taints().second, IsEmpty());
  nvidia.operand_tolerations.clear();
  world.add(nvidia);
  EXPECT_THAT(taints().second, ElementsAre("a"));
}

}  // namespace
}  // namespace berth::test
