// SPDX-License-Identifier: Apache-2.0
// The state of the nodes that the policy finds, and which of them take up another device plugin
// config next.
#include "controller/policy/pool_survey.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apis/base/reasons.h"
#include "controller/policy/plugin_file.h"
#include "controller/policy/plugin_labels.h"
#include "controller/policy/pool_figures.h"
#include "tests/mig/planned_cluster.h"
#include "tests/policy/policy_yaml.h"

namespace berth::test {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;

constexpr char kTwo[] =
    "pools: [{name: dev, nodeSelector: {matchLabels: {tier: mig}}, sharing: {strategy: "
    "TimeSlicing, replicas: 4}}, {name: all, nodeSelector: {}}]";

struct PoolSurveyTest : ::testing::Test {
  void set(const std::string& spec) {
    of = policy(spec);
    world.add(of);
  }
  PoolSurvey survey() {
    snapshot.emplace(world.snapshot());
    return survey_pools(*snapshot, of);
  }
  NodeBuilder dev(const std::string& name) { return node(name).a100_80(4).label("tier", "mig"); }
  // The config of pool dev, and a node that names it.
  std::string key() { return render_plugin_config(of.spec.pools.front())->key; }
  NodeBuilder taken_up(const std::string& name) {
    return dev(name).label(names::kDevicePluginConfig, key());
  }
  static std::vector<std::string> names_of(const std::vector<PluginLabelDue>& due) {
    std::vector<std::string> names;
    for (const PluginLabelDue& d : due) names.push_back(d.node->meta.name + (d.foreign ? "!" : ""));
    return names;
  }
  ConfigMap file(Time written) {
    ConfigMap made;
    made.meta.name = of.spec.agents.device_plugin_config_map;
    made.meta.namespace_ = world.settings.agents_namespace;
    made.meta.uid = "uid-file";
    made.meta.annotations.set("gpu.berth.dev/rendered-at", Text(format_micro_time(written)));
    made.data = plugin_configs(of.spec.pools, {}, {});
    return made;
  }
  PlannedCluster world;
  GPUClusterPolicy of;
  std::optional<Snapshot> snapshot;
};

TEST_F(PoolSurveyTest, NodesGpusAndWhatPodsHoldAreCountedByPool) {
  set(kTwo);
  world.add(dev("n1"))
      .add(dev("n2"))
      .add(node("n3").a100_80(2))
      .add(node("bare").label("tier", "mig"));
  world.add(pod("a").gpu(3).on("n1")).add(pod("b").gpu(1).on("n3")).add(pod("c").on("n1"));
  const PoolSurvey found = survey();
  ASSERT_THAT(found.pools, SizeIs(2));
  EXPECT_EQ(found.pools[0].nodes, 2);
  EXPECT_EQ(found.pools[0].gpus, 8);
  EXPECT_EQ(found.pools[0].allocated, 3);
  EXPECT_EQ(found.pools[1].nodes, 1);
  EXPECT_EQ(found.pools[1].gpus, 2);
  EXPECT_EQ(found.pools[1].allocated, 1);
  EXPECT_EQ(found.conflict_count, 2) << "pool all selects every GPU node";
  EXPECT_EQ(found.changing, 3);
  EXPECT_EQ(found.carrying, 0);
}

TEST_F(PoolSurveyTest, GpusAreCountedBeforeDiscoveryHasSeenThem) {
  set(kTwo);
  const auto fresh = [](const char* name) {
    Node made = node(name).label(names::kPoolLabel, "all").allocatable("nvidia.com/gpu", 8);
    made.capacity = made.allocatable;
    return made;
  };
  Node shared = fresh("n3");
  shared.meta.labels.set("tier", "mig");
  world.add(fresh("n1")).add(fresh("n2")).add(shared);
  const PoolSurvey found = survey();
  EXPECT_EQ(found.pools[1].nodes, 2);
  EXPECT_EQ(found.pools[1].gpus, 16);
  EXPECT_EQ(found.pools[0].gpus, 0) << "what a pool shares is not its number of GPUs";
}

TEST_F(PoolSurveyTest, ConflictsAndDisputesAreAllCountedAndSomeNamed) {
  set("pools: [{name: a, nodeSelector: {}, labels: {team: a}}, {name: b, nodeSelector: {}}]");
  const int count = static_cast<int>(limits::kMaxConflicts) + 1;
  for (int i = 1; i <= count; ++i)
    world.add(node(fmt::format("n{}", i)).a100_80(4).label("team", "theirs"));
  const PoolSurvey found = survey();
  EXPECT_EQ(found.conflict_count, count);
  EXPECT_THAT(found.conflicts, SizeIs(limits::kMaxConflicts));
  EXPECT_EQ(found.disputed_count, count);
  EXPECT_THAT(found.disputed, SizeIs(5));
  EXPECT_EQ(found.disputed[0], "n1: label team");
}

TEST_F(PoolSurveyTest, WhatNodesCarryOfThePolicyIsCountedThoughNoPoolHasThem) {
  set("pools: []");
  world.add(node("n1").a100_80(4).label(names::kPoolLabel, "gone"));
  world.add(node("n2").a100_80(4).annotation(names::kPoolKeysAnnotation, "{}"));
  world.add(node("n3").a100_80(4).label(names::kDevicePluginConfig, "gone-0123abcd"));
  world.add(node("n4").a100_80(4).label(names::kDevicePluginConfig, "theirs"));
  world.add(node("n5").a100_80(4));
  const PoolSurvey found = survey();
  EXPECT_EQ(found.carrying, 2) << "the label of n1 is not berth's";
  EXPECT_EQ(found.changing, 0);
  ASSERT_THAT(found.retreats, SizeIs(1));
  EXPECT_EQ(found.retreats[0].node->meta.name, "n2");
  EXPECT_EQ(found.strays, 1);
  EXPECT_EQ(found.stray, "n1 (gpu.berth.dev/pool=gone)");
  EXPECT_THAT(names_of(found.plugin_due), ElementsAre("n3")) << "theirs is theirs";
  EXPECT_THAT(found.plugin_keys, ElementsAre("gone-0123abcd", "theirs"));
}

TEST_F(PoolSurveyTest, ANodeAsItShouldBeIsInPlaceAndOneThatDiffersIsNot) {
  set("pools: [{name: a, nodeSelector: {}, labels: {team: a}}]");
  const auto in_place = [&](const char* team) {
    return node("n1")
        .a100_80(4)
        .label(names::kPoolLabel, "a")
        .label("team", team)
        .annotation(names::kPoolKeysAnnotation,
                    R"({"pool":"a","labels":{"gpu.berth.dev/pool":"a","team":"a"},"taints":[],)"
                    R"("corrections":0})");
  };
  world.add(in_place("a"));
  EXPECT_EQ(survey().changing, 0);
  EXPECT_EQ(survey().carrying, 1);
  world.add(in_place("b"));
  EXPECT_EQ(survey().changing, 1);
}

TEST_F(PoolSurveyTest, AResourceIsOfferedByANodeThatHasSomeOrWillByItsPoolsSharing) {
  const auto unoffered = [&] { return survey().unoffered; };
  const std::string catalog =
      ", resourceCatalog: [{name: whole, resource: nvidia.com/gpu}, {name: part, resource: "
      "nvidia.com/gpu.shared}]";
  set("pools: []" + catalog);
  EXPECT_THAT(unoffered(), ElementsAre(0u, 1u));
  world.add(dev("n1").allocatable("nvidia.com/gpu", 0));
  EXPECT_THAT(unoffered(), ElementsAre(0u, 1u));
  world.add(dev("n1"));
  EXPECT_THAT(unoffered(), ElementsAre(1u));
  const std::string sliced =
      "pools: [{name: dev, nodeSelector: {matchLabels: {tier: mig}}, sharing: {strategy: "
      "TimeSlicing, replicas: 4";
  set(sliced + "}}]" + catalog);
  EXPECT_THAT(unoffered(), ElementsAre(1u)) << "it keeps its name";
  set(sliced + ", renameByDefault: true}}]" + catalog);
  EXPECT_THAT(unoffered(), IsEmpty());
  world.add(dev("n1").allocatable("nvidia.com/gpu", 0));
  EXPECT_THAT(unoffered(), ElementsAre(0u)) << "only the shared one is to come";
}

TEST_F(PoolSurveyTest, ANodeSettlesUntilItShowsItsPoolsSharing) {
  set(kTwo);
  const auto settling = [&](const char* strategy, const char* replicas) {
    world.add(taken_up("n1")
                  .label(names::kGpuSharingStrategy, strategy)
                  .label(names::kGpuReplicas, replicas));
    return survey().plugin_settling.size();
  };
  EXPECT_EQ(settling("time-slicing", "4"), 0u);
  EXPECT_EQ(settling("none", "1"), 1u);
  EXPECT_EQ(settling("mps", "4"), 1u);
  EXPECT_EQ(settling("", "1"), 0u) << "nobody tells";
  EXPECT_EQ(settling("none", "0"), 0u) << "its GPUs are cut";
  EXPECT_THAT(survey().plugin_due, IsEmpty());
  set("pools: [{name: dev, nodeSelector: {matchLabels: {tier: mig}}, sharing: {strategy: MPS, "
      "replicas: 4}}]");
  EXPECT_EQ(settling("mps", "4"), 0u);
  EXPECT_EQ(settling("time-slicing", "4"), 1u);
  set("pools: [{name: dev, nodeSelector: {matchLabels: {tier: mig}}, migStrategy: mixed}]");
  EXPECT_EQ(settling("none", "1"), 0u);
  EXPECT_EQ(settling("mps", "4"), 1u);
  set("pools: [{name: dev, nodeSelector: {matchLabels: {tier: mig}}, sharing: {strategy: "
      "TimeSlicing, replicas: 4, resources: [nvidia.com/mig-1g.10gb]}}]");
  EXPECT_EQ(settling("none", "1"), 0u) << "of instances that label tells nothing";
}

TEST_F(PoolSurveyTest, SomebodyElsesConfigIsForeignAndTheDefaultIsNobodys) {
  set(kTwo);
  world.add(dev("n1")).add(dev("n2").label(names::kDevicePluginConfig, "theirs"));
  world.add(dev("n3").label(names::kDevicePluginConfig, "default"));
  world.add(dev("n4").label(names::kDevicePluginConfig, "dev-0123abcd")).add(taken_up("n5"));
  const PoolSurvey found = survey();
  EXPECT_THAT(names_of(found.plugin_due), ElementsAre("n1", "n2!", "n3", "n4"));
  EXPECT_EQ(found.plugin_due[2].standing, "default");
}

// --- which nodes take up their config ---

struct PluginLabelsTest : PoolSurveyTest {
  PluginLabelsTest() {
    set(std::string(kTwo) + ", disruption: {maxUnavailable: 1}");
    written = world.now - 1h;
  }
  // "n1, n2; 1 wait: PluginRollout: …"
  std::string decide() {
    world.add(file(written));
    const PoolSurvey found = survey();
    const PluginFile standing(*snapshot, of.spec.agents.device_plugin_config_map, of.spec.pools,
                              {});
    const SlotLedger ledger = read_ledger(*snapshot);
    DisruptionBudgets budgets(*snapshot, ledger);
    const PluginLabels labels = decide_plugin_labels(*snapshot, found, standing, unread, budgets);
    std::string told;
    for (const PluginLabelDue* due : labels.take) told += due->node->meta.name + " ";
    if (labels.waiting > 0)
      told +=
          fmt::format("; {} wait: {}: {}", labels.waiting, labels.why->reason, labels.why->message);
    return told;
  }
  std::optional<Cause> unread;
  Time written{};
};

TEST_F(PluginLabelsTest, NodesThatNobodyUsesTakeItUpAtOnceOthersWithinTheBudget) {
  for (const char* name : {"n1", "n2", "n3"}) world.add(dev(name));
  EXPECT_EQ(decide(), "n1 n2 n3 ");
  for (const char* name : {"n1", "n2"}) world.add(pod(std::string("p-") + name).gpu(1).on(name));
  EXPECT_THAT(decide(), StartsWith("n1 n3 ; 1 wait: PoolMaxUnavailable"));
  world.add(pod("p-n1").on("n1")).add(pod("p-n2").gpu(1).on("n2").owner("DaemonSet", "probe"));
  EXPECT_EQ(decide(), "n1 n2 n3 ") << "a pod without a GPU, and one that belongs to its node";
}

TEST_F(PluginLabelsTest, ANodeThatIsRepartitionedOrUpgradedWaits) {
  world.add(on_its_way(dev("n1"), layout("small"), "c", RolloutPhase::kApplying, world.now));
  EXPECT_EQ(decide(), "; 1 wait: PluginRollout: n1 is being repartitioned or upgraded");
  world.add(dev("n1").label(names::kDriverUpgradeState, "drain-required"));
  EXPECT_EQ(decide(), "; 1 wait: PluginRollout: n1 is being repartitioned or upgraded");
}

TEST_F(PluginLabelsTest, TheFileHasToBeReadAndToHaveReachedTheNodes) {
  world.add(dev("n1"));
  written = world.now - 89s;
  EXPECT_THAT(decide(), HasSubstr("ConfigMap has to reach the nodes first"));
  written = world.now;
  EXPECT_THAT(decide(), HasSubstr("ConfigMap has to reach the nodes first"));
  written = world.now + 1s;
  EXPECT_EQ(decide(), "n1 ") << "a time that is to come is no time";
  written = world.now - 90s;
  EXPECT_EQ(decide(), "n1 ");
  unread = Cause{reasons::kPluginNotConfigured, "nobody reads it"};
  EXPECT_EQ(decide(), "; 1 wait: PluginNotConfigured: nobody reads it");
  world.add(node("n1").a100_80(4).label(names::kDevicePluginConfig, "gone-0123abcd"));
  EXPECT_EQ(decide(), "n1 ") << "back to the default it may go";
}

TEST_F(PluginLabelsTest, TheWriteTestsWhatStood) {
  const auto write = [&](const Node& of_node) {
    world.add(of_node);
    const PoolSurvey found = survey();
    Plan plan;
    plan_plugin_label(found.plugin_due.at(0), plan);
    return std::get<Write>(plan.objects.at(0).steps.at(0));
  };
  const Write fresh = write(dev("n1"));
  EXPECT_EQ(fresh.verb, Verb::kJsonPatch);
  EXPECT_EQ(fresh.field_manager, names::kManagerPolicy);
  EXPECT_EQ(fresh.reason, "the device plugin uses the config of pool dev");
  EXPECT_EQ(
      fresh.body,
      fmt::format(R"([{{"op":"test","path":"/metadata/uid","value":"uid-n1"}},)"
                  R"({{"op":"test","path":"/metadata/labels/nvidia.com~1device-plugin.config",)"
                  R"("value":null}},{{"op":"add","path":)"
                  R"("/metadata/labels/nvidia.com~1device-plugin.config","value":"{}"}}])",
                  key()));
  const Write other = write(dev("n1").label(names::kDevicePluginConfig, "dev-0123abcd"));
  EXPECT_THAT(other.body, HasSubstr(R"("value":"dev-0123abcd"})"));
  const Write back = write(node("n1").a100_80(4).label(names::kDevicePluginConfig, "a-0123abcd"));
  EXPECT_THAT(back.body,
              HasSubstr(R"({"op":"remove","path":"/metadata/labels/nvidia.com~1device)"));
  EXPECT_THAT(back.reason, HasSubstr("goes back to its default"));
}

// --- the file ---

TEST_F(PluginLabelsTest, TheFileIsMadeAndChangedByWhatDiffers) {
  const auto plan_of = [&](const std::set<std::string>& named) {
    snapshot.emplace(world.snapshot());
    Plan plan;
    PluginFile(*snapshot, "berth-device-plugin-config", of.spec.pools, named).plan(plan);
    return plan.objects.empty() ? Write() : std::get<Write>(plan.objects[0].steps.back());
  };
  const Write made = plan_of({});
  EXPECT_EQ(made.verb, Verb::kCreate);
  EXPECT_EQ(made.field_manager, names::kManagerPolicy);
  EXPECT_EQ(made.reason, "render the pools into the device plugin's file");
  EXPECT_EQ(made.object.str(), "ConfigMap/gpu-operator/berth-device-plugin-config");
  EXPECT_THAT(made.body, AllOf(HasSubstr("\"" + key() + "\":"), HasSubstr("\"default\":"),
                               HasSubstr("rendered-at")));
  ConfigMap standing = file(world.now - 1h);
  world.add(standing);
  EXPECT_EQ(plan_of({}).body, "");
  standing.data["theirs"] = "x";
  world.add(standing);
  EXPECT_EQ(plan_of({}).body, "") << "other people's keys are theirs";
  standing.data["gone-0123abcd"] = "x";
  world.add(standing);
  EXPECT_THAT(plan_of({}).body,
              AllOf(HasSubstr(R"("data":{"gone-0123abcd":null})"), Not(HasSubstr("rendered-at"))));
  EXPECT_EQ(plan_of({"gone-0123abcd"}).body, "") << "a node names it";
  standing.data.erase("gone-0123abcd");
  standing.data[key()] = "edited";
  world.add(standing);
  EXPECT_THAT(plan_of({}).body, AllOf(HasSubstr("\"" + key() + "\":\"version"),
                                      HasSubstr("rendered-at"), Not(HasSubstr("default"))));
  EXPECT_EQ(plan_of({}).verb, Verb::kMergePatch);
  standing.data.erase(key());
  world.add(standing);
  EXPECT_THAT(plan_of({}).body, HasSubstr("\"" + key() + "\":\"version"));
}

TEST_F(PluginLabelsTest, WhereNobodyAsksForAnythingNoFileIsMade) {
  set("pools: [{name: all, nodeSelector: {}}]");
  snapshot.emplace(world.snapshot());
  Plan plan;
  PluginFile(*snapshot, "berth-device-plugin-config", of.spec.pools, {}).plan(plan);
  EXPECT_TRUE(plan.objects.empty());
}

// --- metrics ---

TEST_F(PoolSurveyTest, FiguresTellEachPoolsNodesByWhatTheyAre) {
  set(kTwo);
  world.add(dev("n1")).add(dev("n2").cordoned()).add(dev("n3").not_ready());
  world.add(node("n4").a100_80(2)).add(node("bare").label("tier", "mig"));
  std::vector<std::string> told;
  for (const Figure& figure : pool_figures(world.cluster))
    for (const Figure::Sample& sample : figure.samples) {
      std::string labels;
      for (const auto& [label, value] : sample.labels) labels += "," + value;
      if (sample.value != 0)
        told.push_back(figure.name + labels + fmt::format(" {}", sample.value));
    }
  for (const char* expected :
       {"berth_pool_nodes,dev,in_service 1", "berth_pool_nodes,dev,cordoned 1",
        "berth_pool_nodes,dev,not_ready 1", "berth_pool_nodes,all,in_service 1",
        "berth_pool_gpus,dev 12", "berth_pool_gpus,all 2"})
    EXPECT_THAT(told, testing::Contains(expected));
}

}  // namespace
}  // namespace berth::test
