// SPDX-License-Identifier: Apache-2.0
// Requirements before mig-manager may start: on the node, of mig-manager, and in its file.
#include "controller/mig/preflight.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <functional>

#include "apis/base/reasons.h"
#include "controller/mig/situation.h"
#include "tests/mig/one_node.h"

namespace berth::test {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAre;

struct Preflight : OneNode {
  std::string obstacle() {
    const Snapshot snapshot = world_.snapshot();
    const std::optional<Cause> cause = obstacle_on(snapshot, n1());
    return cause ? cause->reason + ": " + cause->message : "";
  }
  DaemonSet agent() { return **world_.cluster.daemon_sets().begin(); }
  bool runs_here() { return runs_mig_manager(world_.snapshot(), n1()); }
  std::string not_configured() { return agent_not_configured(world_.snapshot()).value_or(""); }
  void set_file(const std::string& text) {
    ConfigMap file = *find_agent_config(world_.snapshot());
    file.data[names::kMigPartedKey] = text;
    world_.add(file);
  }
};

TEST_F(Preflight, OfTheNodeItIsToldWhoseItIsOrWhatItLacks) {
  struct Case {
    const char* sentence;
    std::function<void(Node&)> change;
    const char* told;
  };
  const auto with = [](const char* key, const char* value) {
    return [=](Node& node) { node.meta.labels.set(key, value); };
  };
  for (const Case& c : {
           Case{"nothing", [](Node&) {}, ""},
           Case{"an autoscaler deletes it",
                [](Node& node) {
                  node.taints.push_back({"ToBeDeletedByClusterAutoscaler", "", "NoSchedule"});
                },
                "AutoscalerDeleting: the node is about to be deleted (taint ToBeDeleted"},
           Case{"its driver is upgraded", with(names::kDriverUpgradeState, "drain-required"),
                "UpgradeInProgress: the GPU operator is upgrading the driver ("},
           Case{"NVIDIA's DRA driver has it", with(names::kDeployDraDriver, "true"), "DraNode: "},
           Case{"its GPUs can't be partitioned", with(names::kMigCapable, "false"),
                "MigNotCapable: label nvidia.com/mig.capable=false"},
           Case{"nobody has looked whether they can", with(names::kMigCapable, ""), ""},
           Case{"containers' GPUs", with(names::kWorkloadConfig, "container"), ""},
           Case{"virtual machines' GPUs", with(names::kWorkloadConfig, "vm-passthrough"),
                "VirtualMachineNode: label nvidia.com/gpu.workload.config=vm-passthrough"},
           Case{"it is not Ready", [](Node& node) { node.ready = false; }, "NodeNotReady: "},
           Case{"mig-manager is not deployed", with(names::kDeployMigManager, "false"),
                "MigManagerMissing: mig-manager does not run here; label the node "
                "nvidia.com/gpu.deploy.mig-manager=true"},
       }) {
    SCOPED_TRACE(c.sentence);
    world_.add(test::node("n1").a100_80(4).label("tier", "mig"));
    edit_node(c.change);
    if (*c.told == '\0')
      EXPECT_EQ(obstacle(), "");
    else
      EXPECT_THAT(obstacle(), StartsWith(c.told));
  }
}

TEST_F(Preflight, MigManagerRunsWhereItsDaemonSetSaysElseWhereTheOperatorsLabelDoes) {
  EXPECT_TRUE(runs_here());
  label(names::kDeployMigManager, "paused-for-mig-change");
  EXPECT_FALSE(runs_here());
  DaemonSet elsewhere = agent();
  elsewhere.node_selector = {{Text("tier"), Text("mig")}, {Text("zone"), Text("a")}};
  world_.add(elsewhere);
  EXPECT_FALSE(runs_here());
  label("zone", "a");
  EXPECT_TRUE(runs_here());
  elsewhere.node_selector = {};
  world_.add(elsewhere);
  EXPECT_FALSE(runs_here());
  label(names::kDeployMigManager, "true");
  EXPECT_TRUE(runs_here());
  world_.cluster.erase<DaemonSet>(elsewhere.meta.namespace_.str(), elsewhere.meta.name);
  EXPECT_TRUE(runs_here());
}

TEST_F(Preflight, MigManagerIsFoundByItsNameElseByItsLabelInItsNamespace) {
  const auto found = [&] {
    const DaemonSet* set = find_mig_manager(world_.snapshot());
    return set == nullptr ? "" : set->meta.name;
  };
  EXPECT_EQ(found(), "nvidia-mig-manager");
  DaemonSet labelled = agent();
  labelled.meta.name = "a-mig-manager";
  labelled.meta.labels.set("app", "nvidia-mig-manager");
  DaemonSet plugin = labelled;
  plugin.meta.name = "z-plugin";
  plugin.meta.labels.set("app", "nvidia-device-plugin-daemonset");
  DaemonSet far = agent();
  far.meta.namespace_ = "elsewhere";
  world_.add(labelled).add(plugin).add(far);
  EXPECT_EQ(found(), "nvidia-mig-manager") << "its name comes first";
  world_.cluster.erase<DaemonSet>(world_.settings.agents_namespace, "nvidia-mig-manager");
  EXPECT_EQ(found(), "a-mig-manager");
  world_.cluster.erase<DaemonSet>(world_.settings.agents_namespace, "a-mig-manager");
  EXPECT_EQ(found(), "");
}

TEST_F(Preflight, MigManagerReadsBerthsFileByItsVolumeOrByNvidiasPolicy) {
  EXPECT_EQ(not_configured(), "");
  take_agents_file_away();
  EXPECT_THAT(not_configured(),
              StartsWith("set spec.migManager.config.name: berth-mig-parted-config in a "
                         "ClusterPolicy, or mount ConfigMap berth-mig-parted-config: no DaemonSet "
                         "gpu-operator/nvidia-mig-manager reads it yet"));
  world_.cluster.erase<DaemonSet>(world_.settings.agents_namespace, "nvidia-mig-manager");
  EXPECT_THAT(not_configured(), StartsWith("install NVIDIA's GPU operator, or name its namespace"));
  ClusterPolicy theirs;
  theirs.meta.name = "cluster-policy";
  theirs.mig_manager_config_map = "other";
  world_.add(theirs);
  EXPECT_THAT(not_configured(),
              StartsWith("mig-manager does not read berth's file yet; set in NVIDIA's "
                         "ClusterPolicy: spec.migManager.config.name: berth-mig-parted-config"));
  theirs.mig_manager_config_map = "berth-mig-parted-config";
  world_.add(theirs);
  EXPECT_EQ(not_configured(), "");
}

TEST_F(Preflight, WhatNodesNameHasToBeInTheFile) {
  const auto named = [&] { return configs_named_by_nodes(world_.snapshot()); };
  EXPECT_THAT(named(), ElementsAre("all-disabled"));
  world_.add_nodes(3);
  EXPECT_THAT(named(), ElementsAre("all-disabled"));
  bring_to(RolloutPhase::kCordoned);
  edit_record([](NodeRollout& r) { r.previous = "before"; });
  EXPECT_THAT(named(), UnorderedElementsAre("all-disabled", "before", config_));
  label(names::kMigConfig, config_ + "-r2");
  EXPECT_THAT(configs_named_by(world_.cluster, n1()), UnorderedElementsAre("before", config_));
  world_.add(test::node("n2").a100_80(4).label(names::kMigConfig, "theirs"));
  EXPECT_THAT(named(), UnorderedElementsAre("all-disabled", "before", config_, "theirs"));
  EXPECT_THAT(configs_not_copied(world_.snapshot()), ElementsAre("before", "theirs"));
  world_.add(test::node("bare"));
  EXPECT_THAT(configs_named_by(world_.cluster, *world_.cluster.nodes().find("bare")), IsEmpty());
}

TEST_F(Preflight, AConfigIsInTheFileUnderItsWholeName) {
  const auto holds = [&](const char* name) { return config_is_rendered(world_.snapshot(), name); };
  set_file("version: v1\nmig-configs:\n  plain:\n  \"on\":\n    inner:\n");
  EXPECT_TRUE(holds("plain"));
  EXPECT_TRUE(holds("on"));
  for (const char* name : {"plai", "lain", "inner", "mig-configs", "off"})
    EXPECT_FALSE(holds(name)) << name;
  ConfigMap file = *find_agent_config(world_.snapshot());
  file.data.clear();
  world_.add(file);
  EXPECT_FALSE(holds("plain"));
  world_.cluster.erase<ConfigMap>(world_.settings.agents_namespace, world_.settings.mig_config_map);
  EXPECT_FALSE(holds("plain"));
}

TEST_F(Preflight, TheFilesAgeIsReadFromIt) {
  const auto changed = [&] { return agent_config_changed_at(world_.snapshot()); };
  EXPECT_EQ(changed(), world_.now);
  ConfigMap file = *find_agent_config(world_.snapshot());
  file.meta.annotations.set(kRenderedAtAnnotation, "yesterday");
  world_.add(file);
  EXPECT_EQ(changed(), std::nullopt);
  file.meta.annotations = {};
  world_.add(file);
  EXPECT_EQ(changed(), std::nullopt);
  world_.cluster.erase<ConfigMap>(world_.settings.agents_namespace, world_.settings.mig_config_map);
  EXPECT_EQ(changed(), std::nullopt);
}

TEST_F(Preflight, AFileThatLacksAConfigIsNamedAsItStands) {
  const Cause lacks = file_lacks(world_.snapshot(), "x");
  EXPECT_EQ(lacks.reason, reasons::kConfigNotRendered);
  EXPECT_EQ(lacks.message, "ConfigMap gpu-operator/berth-mig-parted-config does not hold x yet");
  EXPECT_EQ(agent_config_ref(world_.snapshot()).uid, "uid-berth-mig-parted-config");
  world_.cluster.erase<ConfigMap>(world_.settings.agents_namespace, world_.settings.mig_config_map);
  EXPECT_EQ(agent_config_ref(world_.snapshot()).uid, "");
}

}  // namespace
}  // namespace berth::test
