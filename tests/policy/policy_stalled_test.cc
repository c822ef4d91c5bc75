// SPDX-License-Identifier: Apache-2.0
// Problems that only a user can solve, and the policy's messages about them.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/policy/planned_policy.h"

namespace berth::test {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

struct Trouble {
  const char* says;
  std::string spec;
  ClusterPolicy nvidia;
  const char* reason;
  const char* message;
};

const std::vector<Trouble> kTroubles = {
    {"the plugin reads another file", kSliced, nvidia("other"), "PluginNotConfigured",
     "kubectl patch clusterpolicy cluster-policy --type merge -p"},
    {"the operator tells every plugin another MIG strategy",
     "pools: [{name: dev, nodeSelector: {matchLabels: {tier: mig}}, migStrategy: mixed}]",
     nvidia("berth-device-plugin-config", "single"), "MigStrategyOverridden",
     "set its spec.mig.strategy to"},
    {"a taint that NVIDIA's agents don't tolerate",
     "pools: [{name: dev, nodeSelector: {matchLabels: {tier: mig}}, taints: [{key: "
     "example.com/gpu, effect: NoSchedule}]}]",
     nvidia(""), "OperandsNotTolerant",
     "{key: example.com/gpu, operator: Exists, effect: NoSchedule}"},
    {"agents in another namespace", "agents: {namespace: nvidia}, pools: []", nvidia(""),
     "AgentsMismatch", "--agents-namespace=gpu-operator"},
    {"mig-manager reads another file than berth writes",
     "agents: {migManagerConfigMap: theirs}, pools: []", nvidia(""), "AgentsMismatch",
     "spec.agents.migManagerConfigMap is theirs, and berth writes berth-mig-parted-config by its "
     "flags; make them the same"},
    {"a time zone that is none",
     "disruption: {blackouts: [{schedule: \"0 8 * * *\", duration: 1h, timeZone: Mars/Olympus}]}",
     nvidia(""), "PolicyInvalid", "spec.disruption.blackouts[0].timeZone"},
};

TEST_F(Policy, WhatOnlyAPersonCanSolveIsStalledAndSaysWhatToWrite) {
  for (const Trouble& trouble : kTroubles) {
    SCOPED_TRACE(trouble.says);
    PlannedCluster one;
    one.add(in_dev("n1")).add(policy(trouble.spec)).add(trouble.nvidia);
    const Plan plan = one.plan("policy");
    EXPECT_THAT(status(plan), AllOf(HasSubstr(R"("type":"Stalled","status":"True")"),
                                    HasSubstr(trouble.reason), HasSubstr(trouble.message)));
  }
}

TEST_F(Policy, WhatWasHardlyMeantIsTold) {
  cluster.add_nodes(1).add(policy(
      "pools: [{name: none, nodeSelector: {matchLabels: {tier: nowhere}}}], resourceCatalog: "
      "[{name: whole, resource: nvidia.com/gpu}, {name: rare, resource: nvidia.com/mig-7g.80gb}]"));
  EXPECT_THAT(status(cluster.plan("policy")),
              AllOf(HasSubstr(R"("type":"Ready","status":"True")"),
                    HasSubstr("spec.pools[0].nodeSelector selects no GPU node for none: no node "
                              "has tier=nowhere; 1 has =mig; spec.resourceCatalog[1].resource: no "
                              "node offers nvidia.com/mig-7g.80gb")));
}

TEST_F(Policy, ATaintThatWouldKeepTheAgentsAwayIsHeldBack) {
  cluster.add_nodes(1).add(policy(kTroubles[2].spec)).add(nvidia(""));
  const std::string plan = print(cluster.plan("pool/n1"));
  EXPECT_THAT(plan, Not(HasSubstr("example.com/gpu")));
  ClusterPolicy tolerant = nvidia("");
  tolerant.operand_tolerations.push_back({"example.com/gpu", "Exists", {}, {}});
  cluster.add(tolerant);
  EXPECT_NE(print(cluster.plan("pool/n1")), plan);
}

// --- writes that the API server refuses ---

TEST_F(Policy, AWriteThatIsRefusedStallsItInTheServersWords) {
  struct Row {
    Verb verb;
    ObjectRef object;
    const char* words;
  };
  const Row rows[] = {
      {Verb::kJsonPatch, {"Node", "", "n3", "uid-n3"}, "denied: ask team-sre"},
      {Verb::kMergePatch, {"ConfigMap", "gpu-operator", "plugin", "u"}, "data: field is immutable"},
      {Verb::kCreate, {"PriorityClass", "", "high", ""}, "not while auditors are here"},
  };
  cluster.add_nodes(1).add(policy(kSliced));
  for (const Row& row : rows) {
    SCOPED_TRACE(row.words);
    const Step step =
        Write{.verb = row.verb, .object = row.object, .body = {}, .field_manager = "berth-policy"};
    cluster.answers = Answers();
    cluster.answers.put(question(step), {.yes = false,
                                         .error = {.kind = ErrorKind::kForbidden,
                                                   .message = row.words,
                                                   .where = {},
                                                   .http_code = 403},
                                         .against = {},
                                         .at = cluster.now,
                                         .object = row.object.str(),
                                         .field_manager = "berth-policy",
                                         .reason = "what it is for"});
    const Plan plan = cluster.plan("policy");
    EXPECT_THAT(status(plan), AllOf(HasSubstr(R"("type":"Stalled","status":"True")"),
                                    HasSubstr("WriteRefused"), HasSubstr(row.object.str()),
                                    HasSubstr(row.words), HasSubstr("what it is for")));
    EXPECT_TRUE(plan.requeue_after);
  }
}

TEST_F(Policy, SoDoesItsOwnFinalizer) {
  GPUClusterPolicy fresh = policy(kSliced);
  fresh.meta.finalizers.clear();
  cluster.add(fresh);
  EXPECT_EQ(status(cluster.plan("policy")), "");
  const Plan plan = cluster.plan("policy");
  const auto& write = std::get<Write>(plan.objects.at(0).steps.at(0));
  cluster.answers.put(
      question(write),
      {.yes = false,
       .error = {.kind = ErrorKind::kForbidden, .message = "no", .where = {}, .http_code = 403},
       .against = {},
       .at = cluster.now,
       .object = write.object.str(),
       .field_manager = write.field_manager,
       .reason = write.reason});
  EXPECT_THAT(status(cluster.plan("policy")), HasSubstr("WriteRefused"));
}

// --- keys that the chart lets berth write ---

constexpr char kTiers[] =
    "pools: [{name: gold, nodeSelector: {matchLabels: {tier: mig}}, labels: {gpu.example.com/tier: "
    "gold}, taints: [{key: nvidia.com/gpu, effect: NoSchedule}]}]";

TEST_F(Policy, AKeyThatTheChartDoesNotNameIsToldWithTheLineAndTheRestIsDone) {
  cluster.settings.node_keys = {.labels = read_key_list("example.com/team"),
                                .taints = read_key_list("nvidia.com/gpu")};
  cluster.add(policy(kTiers)).add_nodes(2);
  const Plan node = cluster.plan("pool/n1");
  ASSERT_EQ(node.objects.size(), 1U);
  EXPECT_THAT(print(node), AllOf(HasSubstr("gpu.berth.dev~1pool"), HasSubstr("/spec/taints"),
                                 Not(HasSubstr("gpu.example.com"))));
  const std::string told = status(cluster.plan("policy"));
  for (const char* type :
       {R"("type":"Ready","status":"False")", R"("type":"Stalled","status":"True")"})
    EXPECT_THAT(told, HasSubstr(type));
  EXPECT_THAT(told,
              HasSubstr(R"("reason":"KeyForbidden","message":"pool gold sets label )"
                        R"(gpu.example.com/tier, which the chart does not allow berth to write; )"
                        R"(run helm upgrade berth … --reset-then-reuse-values --set )"
                        R"('nodeKeys={example.com/team,gpu.example.com/tier}'")"));

  cluster.settings.node_keys.labels = read_key_list("gpu.example.com/tier");
  EXPECT_THAT(print(cluster.plan("pool/n1")), HasSubstr("gpu.example.com~1tier"));
  EXPECT_THAT(status(cluster.plan("policy")), HasSubstr("2 nodes do not show their pool's"));
}

TEST_F(Policy, APolicyThatMayNotTakeALabelBackSaysSoWhileItGoes) {
  GPUClusterPolicy going = policy(kTiers);
  going.spec.deletion_policy = PolicyDeletion::kRemove;
  going.meta.deletion_timestamp = cluster.now;
  cluster.settings.node_keys.labels = read_key_list("none");
  cluster.add(going);
  cluster.add(node("n1")
                  .a100_80(4)
                  .label("tier", "mig")
                  .label("gpu.example.com/tier", "gold")
                  .annotation(names::kPoolKeysAnnotation,
                              R"({"pool":"gold","labels":{"gpu.example.com/tier":"gold"},)"
                              R"("taints":[],"corrections":0})"));
  const Plan plan = cluster.plan("policy");
  EXPECT_THAT(writes(plan), Not(Contains(HasSubstr("remove the finalizer"))));
  EXPECT_THAT(status(plan), HasSubstr("pool gold had set label gpu.example.com/tier, which the "
                                      "chart does not allow berth to remove; run helm upgrade"));
  EXPECT_THAT(writes(cluster.plan("pool/n1")), IsEmpty());
}

TEST_F(Policy, HoweverManyKeysThereAreTheSentenceIsWhole) {
  cluster.settings.node_keys = {.labels = read_key_list("none"), .taints = read_key_list("none")};
  std::string labels;
  for (int i = 0; i < 16; ++i) labels += fmt::format("team-{}.gpu.example.com/tier: x, ", i);
  cluster.add(policy("pools: [{name: gold, nodeSelector: {matchLabels: {tier: mig}}, labels: {" +
                     labels + "}}]"));
  cluster.add_nodes(1);
  EXPECT_THAT(
      status(cluster.plan("policy")),
      HasSubstr("and 15 more keys, which the chart does not allow berth to write; name every "
                "key of the pools in helm's values nodeKeys and policy.taintKeys\""));
}

TEST_F(Policy, APoolWithoutNodesSaysWhatWasMeant) {
  cluster.add(policy("pools: [{name: gold, nodeSelector: {matchLabels: {tier: mog}}}]"));
  cluster.add_nodes(3);
  EXPECT_THAT(status(cluster.plan("policy")),
              HasSubstr("spec.pools[0].nodeSelector selects no GPU node for gold: no node has "
                        "tier=mog; 3 have =mig"));
}

}  // namespace
}  // namespace berth::test
