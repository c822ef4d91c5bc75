// SPDX-License-Identifier: Apache-2.0
// The writes of the policy, and what it removes when it is deleted.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "controller/disruption/health_record.h"
#include "tests/policy/planned_policy.h"

namespace berth::test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

TEST_F(Policy, TakesItsFinalizerBeforeAnythingElse) {
  GPUClusterPolicy policy = test::policy(kSliced);
  policy.meta.finalizers.clear();
  cluster.add(policy).add_nodes(2);
  EXPECT_THAT(
      writes(cluster.plan("policy")),
      ElementsAre(
          "mergepatch GPUClusterPolicy/cluster: carry out its deletionPolicy before it is gone"));
}

TEST_F(Policy, WritesTheFileAndLabelsNobodyBeforeItHasReachedTheNodes) {
  cluster.add(policy(kSliced));
  add_dev_nodes(2);
  EXPECT_THAT(writes(cluster.plan("policy")),
              ElementsAre(HasSubstr("create ConfigMap/gpu-operator/berth-device-plugin-config")));
  serve(policy(kSliced));
  ConfigMap fresh =
      *cluster.cluster.config_maps().find("gpu-operator", "berth-device-plugin-config");
  fresh.meta.annotations.set(kRenderedAt,
                             Text(format_micro_time(cluster.now - std::chrono::seconds(89))));
  cluster.add(fresh);
  const Plan waiting = cluster.plan("policy");
  EXPECT_THAT(writes(waiting), IsEmpty());
  EXPECT_EQ(waiting.requeue_after, std::chrono::seconds(1));
  EXPECT_THAT(status(waiting), HasSubstr("ConfigMap has to reach the nodes first"));
  cluster.now += std::chrono::seconds(1);
  EXPECT_THAT(writes(cluster.plan("policy")), SizeIs(2));
}

TEST_F(Policy, KeepsOtherPeoplesKeysAndThoseThatNodesStillName) {
  serve(policy(kSliced));
  ConfigMap file =
      *cluster.cluster.config_maps().find("gpu-operator", "berth-device-plugin-config");
  file.data["theirs"] = "version: v1\n";
  file.data["old-0123abcd"] = "version: v1\n";
  file.data["gone-0123abcd"] = "version: v1\n";
  cluster.add(policy(kSliced)).add(file);
  cluster.add(node("n1").a100_80(4).label(names::kDevicePluginConfig, "old-0123abcd"));
  const Plan plan = cluster.plan("policy");
  ASSERT_THAT(writes(plan), Not(IsEmpty()));
  const std::string& body = std::get<Write>(plan.objects[0].steps.back()).body;
  EXPECT_THAT(body, AllOf(HasSubstr(R"("gone-0123abcd":null)"), Not(HasSubstr("theirs")),
                          Not(HasSubstr("old-0123abcd")), Not(HasSubstr("rendered-at"))));
}

TEST_F(Policy, ANodeThatTwoPoolsSelectBelongsToTheFirst) {
  cluster.add_nodes(1).add(policy(
      "pools: [{name: b, nodeSelector: {matchLabels: {tier: mig}}}, {name: a, nodeSelector: {}}]"));
  const Plan node = cluster.plan("pool/n1");
  EXPECT_THAT(std::get<Write>(node.objects[0].steps.back()).body,
              HasSubstr(R"("path":"/metadata/labels/gpu.berth.dev~1pool","value":"b")"));
  EXPECT_THAT(status(cluster.plan("policy")),
              HasSubstr(R"("conflicts":[{"node":"n1","pools":["b","a"]}])"));
}

TEST_F(Policy, NodesWithoutGpusAreNobodys) {
  cluster.add(node("cpu").label("tier", "mig")).add(policy(kSliced));
  EXPECT_THAT(writes(cluster.plan("pool/cpu")), IsEmpty());
}

// --- PriorityClasses ---

PriorityClass made(const std::string& name, int value, bool ours) {
  PriorityClass made;
  made.meta.name = name;
  made.meta.uid = "uid-" + name;
  made.value = value;
  made.preemption_policy = ours ? "Never" : "PreemptLowerPriority";
  if (ours) made.meta.annotations.set(names::kOwnerAnnotation, "GPUClusterPolicy/cluster");
  return made;
}

TEST_F(Policy, PriorityClassesAreMadeRemadeAndDroppedAndOthersLeft) {
  cluster.add(
      policy("priorityClasses: [{name: new, value: 1}, {name: changed, value: 2}, "
             "{name: right, value: 3}, {name: theirs, value: 4}]"));
  cluster.add(made("changed", 7, true)).add(made("right", 3, true)).add(made("dropped", 5, true));
  cluster.add(made("theirs", 9, false)).add(made("unnamed", 9, false));
  const Plan plan = cluster.plan("policy");
  EXPECT_THAT(writes(plan), ElementsAre(HasSubstr("create PriorityClass/new"),
                                        HasSubstr("delete PriorityClass/changed"),
                                        HasSubstr("delete PriorityClass/dropped")));
  EXPECT_THAT(std::get<Write>(plan.objects[0].steps[0]).body,
              HasSubstr(R"("value":1,"preemptionPolicy":"Never")"));
  EXPECT_THAT(status(plan), AllOf(HasSubstr("PriorityClassTaken"), HasSubstr("theirs")));
}

// The cache may not know yet that a node names a dropped key; its plugin would not start.
TEST_F(Policy, ThatNoNodeNamesWhatThePluginsFileDropsIsTheApiServersToSay) {
  serve(policy(kSliced));
  ConfigMap file =
      *cluster.cluster.config_maps().find("gpu-operator", "berth-device-plugin-config");
  file.data["gone-0123abcd"] = "version: v1\n";
  cluster.add(policy(kSliced)).add(file);
  const Plan plan = cluster.plan("policy");
  ASSERT_THAT(plan.objects.at(0).steps, SizeIs(2));
  const auto& look = std::get<Guard>(plan.objects[0].steps[0]);
  EXPECT_EQ(look.question, "does no node name gone-0123abcd?");
  const Node bare = node("n1").a100_80(4);
  const Node other = node("n2").label(names::kDevicePluginConfig, "dev-0123abcd");
  const Node named = node("n3").label(names::kDevicePluginConfig, "gone-0123abcd");
  EXPECT_EQ(look.refuse_any({bare, other}), std::nullopt);
  EXPECT_EQ(look.refuse_any({bare, other, named}),
            "node n3 names gone-0123abcd, and the cache is behind");
  file.data.erase("gone-0123abcd");
  file.data.erase(render_plugin_config(policy(kSliced).spec.pools[0])->key);
  cluster.add(file);
  EXPECT_THAT(cluster.plan("policy").objects.at(0).steps, SizeIs(1)) << "nothing is dropped";
}

// --- deletion ---

TEST_F(Policy, ADeletedPolicyGoesWhenNothingOfItIsLeft) {
  GPUClusterPolicy going = policy(
      std::string(kSliced) + ", priorityClasses: [{name: c, value: 1}], deletionPolicy: Remove");
  going.meta.deletion_timestamp = cluster.now;
  const std::string key = render_plugin_config(going.spec.pools[0])->key;
  cluster.add(going).add(made("c", 1, true));
  cluster.add(
      node("n1")
          .a100_80(4)
          .label("tier", "mig")
          .label(names::kDevicePluginConfig, key)
          .label(names::kPoolLabel, "dev")
          .annotation(names::kPoolKeysAnnotation,
                      R"({"pool":"dev","labels":{"gpu.berth.dev/pool":"dev"},"taints":[]})"));
  cluster.add(node("n2").a100_80(4).label("tier", "mig").label(names::kPoolLabel, "dev"));
  serve(going);
  Plan plan = cluster.plan("policy");
  EXPECT_THAT(writes(plan), ElementsAre(HasSubstr("Node/n1: the device plugin goes back to its "
                                                  "default"),
                                        HasSubstr("delete PriorityClass/c")));
  EXPECT_THAT(status(plan), HasSubstr("Retreating"));
  cluster.cluster.erase<PriorityClass>("", "c");
  cluster.add(in_dev("n1"));
  EXPECT_THAT(writes(cluster.plan("policy")),
              ElementsAre(HasSubstr("mergepatch ConfigMap"),
                          HasSubstr("Node/n1: no pool asks for it any more")))
      << "the label of n2 is not berth's";
  cluster.add(node("n1").a100_80(4).label("tier", "mig"));
  EXPECT_THAT(writes(cluster.plan("policy")),
              ElementsAre(HasSubstr("mergepatch ConfigMap"), HasSubstr("remove the finalizer")));
}

// berth removes nothing after the deletion. A policy that is applied again adopts its nodes.
TEST_F(Policy, UnderRetainItsDeletionLeavesNodesFileAndClassesAsTheyAre) {
  const GPUClusterPolicy sliced =
      policy(std::string(kSliced) + ", priorityClasses: [{name: c, value: 1}]");
  const std::string key = render_plugin_config(sliced.spec.pools[0])->key;
  cluster.add(sliced).add(made("c", 1, true));
  cluster.add(in_dev("n1").label(names::kDevicePluginConfig, key));
  serve(sliced);
  GPUClusterPolicy going = sliced;
  going.meta.deletion_timestamp = cluster.now;
  cluster.add(going);
  EXPECT_THAT(writes(cluster.plan("policy")),
              ElementsAre("mergepatch GPUClusterPolicy/cluster: deletionPolicy Retain: nodes stay "
                          "as they are, remove the finalizer"));
  EXPECT_THAT(writes(cluster.plan("pool/n1")), IsEmpty());
  cluster.cluster.erase<GPUClusterPolicy>("", "cluster");
  EXPECT_THAT(writes(cluster.plan("policy")), IsEmpty());
  EXPECT_THAT(writes(cluster.plan("pool/n1")), IsEmpty());
  cluster.add(sliced);
  EXPECT_THAT(writes(cluster.plan("policy")), IsEmpty());
  EXPECT_THAT(writes(cluster.plan("pool/n1")), IsEmpty());
  EXPECT_THAT(status(cluster.plan("policy")), HasSubstr("PoolsInPlace"));
}

// Without the policy no status counts such nodes, and an uninstall would leave them cordoned.
TEST_F(Policy, ADeletedPolicyWaitsForNodesThatAreCordonedForTheirHealth) {
  GPUClusterPolicy going = policy(kSliced);
  going.spec.deletion_policy = PolicyDeletion::kRemove;
  cluster.add(going);
  EXPECT_THAT(status(cluster.plan("policy")), Not(HasSubstr("cordonedNodes")));
  Node out = node("n1").a100_80(4);
  out.unschedulable = true;
  out.meta.annotations.set(names::kHealthAnnotation, encode_health({.phase = HealthPhase::kCordoned,
                                                                    .node_uid = out.meta.uid}));
  cluster.add(out);
  EXPECT_THAT(status(cluster.plan("policy")), HasSubstr(R"("cordonedNodes":1)"));

  going.meta.deletion_timestamp = cluster.now;
  cluster.add(going);
  const Plan plan = cluster.plan("policy");
  EXPECT_THAT(writes(plan), Not(testing::Contains(HasSubstr("remove the finalizer"))));
  EXPECT_THAT(status(plan), AllOf(HasSubstr("Retreating"), HasSubstr(R"("cordonedNodes":1)")));
  out.unschedulable.reset();
  cluster.add(out);
  EXPECT_THAT(writes(cluster.plan("policy")), testing::Contains(HasSubstr("remove the finalizer")));
}

// Labels that the cache does not show would stay on the node forever.
TEST_F(Policy, ThatNothingOfItIsLeftIsTheApiServersToSay) {
  GPUClusterPolicy going = policy(kSliced);
  going.spec.deletion_policy = PolicyDeletion::kRemove;
  going.meta.deletion_timestamp = cluster.now;
  cluster.add(going);
  const Plan last = cluster.plan("policy");
  const auto steps = std::ranges::find_if(
      last.objects, [&](const ObjectSteps& of) { return of.object == ref_of(going); });
  ASSERT_NE(steps, last.objects.end());
  ASSERT_THAT(steps->steps, SizeIs(2));
  const auto& look = std::get<Guard>(steps->steps[0]);
  const Node bare = node("n1").a100_80(4), labelled = node("n2").label(names::kPoolLabel, "dev");
  const Node noted = node("n3").annotation(names::kPoolKeysAnnotation, "{}");
  const Node shares =
      node("n4").label(names::kDevicePluginConfig, render_plugin_config(going.spec.pools[0])->key);
  EXPECT_EQ(look.refuse_any({bare, labelled}), std::nullopt) << "the label alone is not berth's";
  for (const Node& each : {noted, shares})
    EXPECT_EQ(look.refuse_any({bare, each}),
              "node " + each.meta.name + " carries it, and the cache is behind");
}

TEST_F(Policy, WhatIsInPlaceIsReadyAndWritesNothing) {
  const GPUClusterPolicy sliced = policy(kSliced);
  cluster.add(sliced);
  serve(sliced);
  const std::string key = render_plugin_config(sliced.spec.pools[0])->key;
  cluster.add(node("n1")
                  .a100_80(4)
                  .label("tier", "mig")
                  .label(names::kDevicePluginConfig, key)
                  .label(names::kPoolLabel, "dev")
                  .annotation(names::kPoolKeysAnnotation,
                              R"({"pool":"dev","labels":{"gpu.berth.dev/pool":"dev"},"taints":[],)"
                              R"("corrections":0})"));
  cluster.add(pod("p1").gpu(2).on("n1"));
  const Plan plan = cluster.plan("policy");
  EXPECT_THAT(writes(plan), IsEmpty());
  EXPECT_THAT(writes(cluster.plan("pool/n1")), IsEmpty());
  EXPECT_THAT(status(plan),
              AllOf(HasSubstr("PoolsInPlace"), HasSubstr("1 pool has 1 node with 4 GPUs"),
                    HasSubstr(R"("name":"dev","nodes":1,"gpus":4,"allocated":2,"sharedBy":4)")));
}

// --- layouts obey the policy ---

TEST_F(Policy, LayoutsTakeNodesOnlyInsideTheWindows) {
  cluster.add_nodes(2).add(under_way(layout("small")));
  cluster.render_agent_config("small");
  EXPECT_THAT(writes(cluster.plan("layout/small")), SizeIs(1)) << "n1 is claimed";
  cluster.add(policy("disruption: {blackouts: [{schedule: \"0 8 * * *\", duration: 10h}]}"));
  const Plan plan = cluster.plan("layout/small");
  EXPECT_THAT(writes(plan), IsEmpty());
  EXPECT_THAT(status(plan), AllOf(HasSubstr("DisruptionWindow"), HasSubstr(R"("pending":2)")));
  EXPECT_EQ(plan.requeue_after, std::chrono::hours(6));
}

TEST_F(Policy, LayoutsShareThePoolsBudget) {
  cluster.add_nodes(4).add(under_way(layout("small")));
  cluster.render_agent_config("small");
  cluster.add(policy("pools: [{name: p, nodeSelector: {}}], disruption: {maxUnavailable: 1}"));
  EXPECT_THAT(writes(cluster.plan("layout/small")), SizeIs(1));
  // A node that is unavailable for another reason, and not because of the layout.
  cluster.add(node("n9").a100_80(4).cordoned());
  EXPECT_THAT(status(cluster.plan("layout/small")), HasSubstr("PoolMaxUnavailable"));
}

}  // namespace
}  // namespace berth::test
