// SPDX-License-Identifier: Apache-2.0
// What the policy plans on a cluster as berth's caches have it.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controller/policy/plugin_config.h"
#include "tests/mig/planned_cluster.h"
#include "tests/policy/policy_yaml.h"

namespace berth::test {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

constexpr char kRenderedAt[] = "gpu.berth.dev/rendered-at";
constexpr char kSliced[] =
    "pools: [{name: dev, nodeSelector: {matchLabels: {tier: mig}}, sharing: {strategy: "
    "TimeSlicing, replicas: 4}}]";

// "jsonpatch Node/n1: why", in order.
std::vector<std::string> writes(const Plan& plan) {
  std::vector<std::string> told;
  for (const ObjectSteps& object : plan.objects)
    for (const Step& step : object.steps)
      if (const auto* write = std::get_if<Write>(&step))
        told.push_back(
            fmt::format("{} {}: {}", to_string(write->verb), write->object.str(), write->reason));
  return told;
}

std::string status(const Plan& plan) {
  return plan.statuses.empty() ? "" : plan.statuses.front().body;
}

// A node that shows what pool "dev" asks for, but for the plugin's config.
NodeBuilder in_dev(const std::string& name) {
  return node(name)
      .a100_80(4)
      .label("tier", "mig")
      .label(names::kPoolLabel, "dev")
      .annotation(
          names::kPoolKeysAnnotation,
          R"({"pool":"dev","labels":{"gpu.berth.dev/pool":"dev"},"taints":[],"corrections":0})");
}

DaemonSet device_plugin(const std::string& config_map) {
  DaemonSet plugin;
  plugin.meta.name = "nvidia-device-plugin-daemonset";
  plugin.meta.namespace_ = "gpu-operator";
  plugin.meta.uid = "uid-plugin";
  if (!config_map.empty()) plugin.config_map_volumes = {Text(config_map)};
  return plugin;
}

class Policy : public ::testing::Test {
 protected:
  Policy() { cluster.add(device_plugin(AgentsSpec().device_plugin_config_map)); }
  // The device plugin's file as the policy asks for it, written long ago.
  void serve(const GPUClusterPolicy& policy) {
    ConfigMap file;
    file.meta.name = policy.spec.agents.device_plugin_config_map;
    file.meta.namespace_ = cluster.settings.agents_namespace;
    file.meta.uid = "uid-file";
    file.meta.annotations.set(kRenderedAt, "2026-11-20T12:00:00.000000Z");
    file.data = plugin_configs(policy.spec.pools, {}, {});
    cluster.add(file);
  }
  std::vector<std::string> labelled() {
    std::vector<std::string> nodes;
    for (const std::string& write : writes(cluster.plan("policy")))
      if (write.find("Node/") != write.npos)
        nodes.push_back(write.substr(write.find("n")).substr(0, write.find(':') - write.find("n")));
    return nodes;
  }
  void add_dev_nodes(int count) {
    for (int i = 1; i <= count; ++i) cluster.add(in_dev(fmt::format("n{}", i)));
  }
  PlannedCluster cluster;
};

TEST_F(Policy, TakesItsFinalizerBeforeAnythingElse) {
  GPUClusterPolicy policy = test::policy(kSliced);
  policy.meta.finalizers.clear();
  cluster.add(policy).add_nodes(2);
  EXPECT_THAT(
      writes(cluster.plan("policy")),
      ElementsAre(
          "mergepatch GPUClusterPolicy/cluster: remove what it put on nodes before it is deleted"));
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
  const std::string& body = std::get<Write>(plan.objects[0].steps[0]).body;
  EXPECT_THAT(body, AllOf(HasSubstr(R"("gone-0123abcd":null)"), Not(HasSubstr("theirs")),
                          Not(HasSubstr("old-0123abcd")), Not(HasSubstr("rendered-at"))));
}

// --- the budget of a change of sharing ---

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

// Labelled, and GPU feature discovery still tells the old sharing.
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

TEST_F(Policy, AForeignPluginConfigIsLeftAloneAndTold) {
  const GPUClusterPolicy sliced = policy(kSliced);
  cluster.add(sliced).add(
      node("n1").a100_80(4).label("tier", "mig").label(names::kDevicePluginConfig, "theirs"));
  serve(sliced);
  const Plan plan = cluster.plan("policy");
  EXPECT_THAT(writes(plan), IsEmpty());
  EXPECT_THAT(status(plan), AllOf(HasSubstr("KeysContested"),
                                  HasSubstr("n1: label nvidia.com/device-plugin.config")));
}

// --- what only a person can solve ---

ClusterPolicy nvidia(const std::string& plugin_file, const std::string& strategy = "") {
  ClusterPolicy policy;
  policy.meta.name = "cluster-policy";
  policy.meta.uid = "uid-nvidia";
  policy.mig_strategy = strategy;
  policy.device_plugin_config_map = plugin_file;
  policy.operand_tolerations = {{"nvidia.com/gpu", "Exists", {}, "NoSchedule"}};
  return policy;
}

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

struct Reader {
  const char* says;
  std::string mounted;  // by the device plugin's DaemonSet
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

// A key that the plugin does not find takes it down, and all GPUs of the node with it.
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

// --- what the API server refuses ---

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

TEST_F(Policy, NodesThatDoNotShareYetAreNamed) {
  cluster.add(policy(kSliced));
  serve(policy(kSliced));
  add_dev_nodes(5);
  EXPECT_THAT(status(cluster.plan("policy")),
              HasSubstr("not yet offering GPUs as their pool says: n1, n2, n3, … (5 nodes)"));
}

// --- deletion ---

TEST_F(Policy, ADeletedPolicyGoesWhenNothingOfItIsLeft) {
  GPUClusterPolicy going =
      policy(std::string(kSliced) + ", priorityClasses: [{name: c, value: 1}]");
  going.meta.deletion_timestamp = cluster.now;
  const std::string key = render_plugin_config(going.spec.pools[0])->key;
  cluster.add(going).add(made("c", 1, true));
  cluster.add(node("n1")
                  .a100_80(4)
                  .label("tier", "mig")
                  .label(names::kDevicePluginConfig, key)
                  .label(names::kPoolLabel, "dev"));
  serve(going);
  Plan plan = cluster.plan("policy");
  EXPECT_THAT(writes(plan), ElementsAre(HasSubstr("Node/n1: the device plugin goes back to its "
                                                  "default"),
                                        HasSubstr("delete PriorityClass/c")));
  EXPECT_THAT(status(plan), HasSubstr("Retreating"));
  EXPECT_THAT(writes(cluster.plan("pool/n1")), SizeIs(2));
  cluster.cluster.erase<PriorityClass>("", "c");
  cluster.add(node("n1").a100_80(4).label("tier", "mig"));
  EXPECT_THAT(writes(cluster.plan("policy")),
              ElementsAre(HasSubstr("mergepatch ConfigMap"), HasSubstr("remove the finalizer")));
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

// --- what the chart lets berth write ---

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
                        R"(run helm upgrade berth … --reuse-values --set )"
                        R"('nodeKeys={example.com/team,gpu.example.com/tier}'")"));

  cluster.settings.node_keys.labels = read_key_list("gpu.example.com/tier");
  EXPECT_THAT(print(cluster.plan("pool/n1")), HasSubstr("gpu.example.com~1tier"));
  EXPECT_THAT(status(cluster.plan("policy")), HasSubstr("2 nodes do not show their pool's"));
}

TEST_F(Policy, APolicyThatMayNotTakeALabelBackSaysSoWhileItGoes) {
  GPUClusterPolicy going = policy(kTiers);
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

// --- layouts obey ---

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
  // One that is out for another reason, and not the layout's.
  cluster.add(node("n9").a100_80(4).cordoned());
  EXPECT_THAT(status(cluster.plan("layout/small")), HasSubstr("PoolMaxUnavailable"));
}

}  // namespace
}  // namespace berth::test
