// SPDX-License-Identifier: Apache-2.0
// Layouts and policies in each state of docs/reasons.md, written to files with the expected answers
// of kstatus and Argo CD, which ctest compares.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "apis/base/names.h"
#include "controller/policy/plugin_config.h"
#include "tests/kstatus/state_files.h"
#include "tests/mig/planned_cluster.h"
#include "tests/policy/policy_yaml.h"

namespace berth::test {
namespace {

using nlohmann::json;

MIGLayout small() { return under_way(layout("small").retire("nvidia.com/gpu")); }

// Only node n1, and a layout for it that is ready for its first step.
void begin(PlannedCluster& world, const MIGLayout& layout = small()) {
  world.add_nodes(1).add(layout);
  world.render_agent_config("small");
}
Node n1(PlannedCluster& world) { return *world.cluster.nodes().find("n1"); }

Node finished(PlannedCluster& world) {
  return node("n1")
      .a100_80(4)
      .label("tier", "mig")
      .label(names::kMigConfig, world.render_agent_config("small"))
      .allocatable("nvidia.com/gpu", 0)
      .allocatable("nvidia.com/mig-1g.10gb", 28);
}
// mig-manager is repartitioning it, or has failed.
void take(PlannedCluster& world, RolloutPhase phase) {
  const std::string config = world.render_agent_config("small");
  world.claim("n1", "small");
  Node node = on_its_way(n1(world), small(), config, phase, world.now);
  node.meta.labels.set(names::kMigConfig, Text(config));
  node.meta.labels.set(names::kMigConfigState, "pending");
  NodeRollout rollout = *read_rollout(node).rollout;
  if (phase == RolloutPhase::kFailed) rollout.failed_config = config;
  if (phase == RolloutPhase::kFailed) rollout.why = "mig-manager reported failed";
  node.meta.annotations.set(names::kRolloutAnnotation, encode_rollout(rollout));
  world.add(node);
}
template <class F>
void edit(PlannedCluster& world, F change) {
  MIGLayout now = *world.cluster.mig_layouts().find("small");
  change(now);
  world.add(now);
}
void hold(PlannedCluster& world) {
  Node node = n1(world);
  node.meta.annotations.set(names::kHoldAnnotation, "mine");
  world.add(node);
}
// The API server's answer to a dry run of an eviction.
void answer_eviction(PlannedCluster& world, const Error& error) {
  world.add(pod("web").on("n1").gpu(1).label("app", "web"));
  const Pod pod = *world.cluster.pods().find("team-a", "web");
  world.answers.put(question(Step(Ask{.pod = ref_of(pod), .against = {}})),
                    {.yes = false, .error = error, .against = {}, .at = world.now});
}
void refuse(PlannedCluster& world, const ObjectRef& object, const char* manager) {
  const Step step =
      Write{.verb = Verb::kJsonPatch, .object = object, .body = {}, .field_manager = manager};
  world.answers.put(question(step), {.yes = false,
                                     .error = {.kind = ErrorKind::kForbidden,
                                               .message = "denied by the platform's policy",
                                               .where = {},
                                               .http_code = 403},
                                     .against = {},
                                     .at = world.now,
                                     .object = object.str(),
                                     .field_manager = manager,
                                     .reason = "a test"});
}

const State kLayouts[] = {
    {"rolling-out", [](PlannedCluster& world) { begin(world); }, "Claiming",
     "Reconciling RollingOut", "InProgress", "Progressing"},
    {"a-node-on-its-way",
     [](PlannedCluster& world) {
       begin(world);
       take(world, RolloutPhase::kApplying);
     },
     "AgentPending", "Reconciling RollingOut", "InProgress", "Progressing"},
    {"ready",
     [](PlannedCluster& world) {
       begin(world);
       world.add(finished(world));
     },
     "AllNodesUpdated", "", "Current", "Healthy"},
    {"held",
     [](PlannedCluster& world) {
       begin(world);
       hold(world);
     },
     "Held", "Reconciling Held", "InProgress", "Progressing"},
    {"budget",
     [](PlannedCluster& world) {
       begin(world);
       world.add(budget("web", "app", "web", 0));
       Error closed{.kind = ErrorKind::kThrottled, .message = "no", .where = {}, .http_code = 429};
       closed.causes = {{"DisruptionBudget", "The disruption budget web needs 1 healthy pods"}};
       answer_eviction(world, closed);
     },
     "PodDisruptionBudget", "Reconciling PodDisruptionBudget", "InProgress", "Progressing"},
    {"unmanaged-pod",
     [](PlannedCluster& world) {
       begin(world);
       world.add(pod("p").on("n1").gpu(1).unmanaged());
     },
     "UnmanagedPod", "Reconciling UnmanagedPod", "InProgress", "Progressing"},
    {"last-provider",
     [](PlannedCluster& world) {
       begin(world, under_way(layout("small")));
       world.add(pod("p").on("n1").gpu(1));
       world.answers.put(question(Step(Ask{.pod = ref_of(*world.cluster.pods().find("team-a", "p")),
                                           .against = {}})),
                         {.yes = true, .against = {}, .at = world.now});
     },
     "LastProvider", "Reconciling LastProvider", "InProgress", "Progressing"},
    {"capacity-guard",
     [](PlannedCluster& world) {
       begin(world, under_way(layout("small").with([](MIGLayoutSpec& spec) {
               spec.capacity_guard.min_available["nvidia.com/gpu"] = 4;
             })));
     },
     "CapacityGuard", "Reconciling CapacityGuard", "InProgress", "Progressing"},
    {"window",
     [](PlannedCluster& world) {
       begin(world);
       world.add(policy("disruption: {blackouts: [{schedule: \"0 8 * * *\", duration: 10h}]}"));
     },
     "DisruptionWindow", "Reconciling DisruptionWindow", "InProgress", "Progressing"},
    {"another-node-is-out",
     [](PlannedCluster& world) {
       begin(world);
       world.add(finished(world));
       for (const char* name : {"n2", "n3"}) world.add(node(name).a100_80(4).label("tier", "mig"));
       Node theirs = *world.cluster.nodes().find("n1");
       theirs.unschedulable = true;
       world.add(theirs);
     },
     "MaxUnavailable", "Reconciling MaxUnavailable", "InProgress", "Progressing"},
    {"node-not-ready",
     [](PlannedCluster& world) {
       begin(world);
       world.add(node("n1").a100_80(4).label("tier", "mig").not_ready());
     },
     "NodeNotReady", "Reconciling NodeNotReady", "InProgress", "Progressing"},
    {"selects-nothing", [](PlannedCluster& world) { world.add(small()); }, "NoNodesSelected",
     "Reconciling NoNodesSelected", "InProgress", "Progressing"},
    {"one-hopeless-one-held",
     [](PlannedCluster& world) {
       begin(world);
       hold(world);
       world.add(node("n0").a100_80(4).label("tier", "mig").label(names::kMigStrategy, "weird"));
     },
     "InvalidLayout", "Reconciling Held", "InProgress", "Progressing"},
    {"paused",
     [](PlannedCluster& world) {
       begin(world);
       edit(world, [](MIGLayout& now) { now.spec.rollout.paused = true; });
     },
     "Paused", "", "InProgress", "Suspended"},
    {"paused-with-a-node-on-its-way",
     [](PlannedCluster& world) {
       begin(world);
       take(world, RolloutPhase::kApplying);
       edit(world, [](MIGLayout& now) { now.spec.rollout.paused = true; });
     },
     "Paused", "Reconciling RollingOut", "InProgress", "Progressing"},
    {"stopped",
     [](PlannedCluster& world) {
       begin(world);
       world.stop("incident 4711");
     },
     "OperationsStopped", "", "InProgress", "Suspended"},
    {"agent-not-configured",
     [](PlannedCluster& world) {
       begin(world);
       DaemonSet elsewhere = **world.cluster.daemon_sets().begin();
       elsewhere.config_map_volumes.clear();
       world.add(elsewhere);
     },
     "AgentNotConfigured", "Stalled AgentNotConfigured", "Failed", "Degraded"},
    {"agent-not-configured-and-one-held",
     [](PlannedCluster& world) {
       begin(world);
       hold(world);
       DaemonSet elsewhere = **world.cluster.daemon_sets().begin();
       elsewhere.config_map_volumes.clear();
       world.add(elsewhere);
     },
     "AgentNotConfigured", "Stalled AgentNotConfigured", "Failed", "Degraded"},
    {"invalid-spec",
     [](PlannedCluster& world) {
       begin(world);
       edit(world, [](MIGLayout& now) {
         now.spec.node_selector = LabelSelector{{{"nvidia.com/gpu.count", "4"}}, {}};
       });
     },
     "InvalidSpec", "Stalled InvalidSpec", "Failed", "Degraded"},
    {"invalid-layout",
     [](PlannedCluster& world) {
       begin(world);
       edit(world, [](MIGLayout& now) {
         now.spec.devices = {DeviceLayout{std::nullopt, {{"3g.40gb", 3}}}};
       });
     },
     "InvalidLayout", "Stalled InvalidLayout", "Failed", "Degraded"},
    {"eviction-forbidden",
     [](PlannedCluster& world) {
       begin(world);
       answer_eviction(world, {.kind = ErrorKind::kForbidden,
                               .message = "pods \"web\" is forbidden",
                               .where = {},
                               .http_code = 403});
     },
     "EvictionForbidden", "Stalled EvictionForbidden", "Failed", "Degraded"},
    {"write-refused",
     [](PlannedCluster& world) {
       begin(world);
       refuse(world, ref_of(small()), names::kManagerMig);
     },
     "WriteRefused", "Stalled WriteRefused", "Failed", "Degraded"},
    {"node-failed",
     [](PlannedCluster& world) {
       begin(world);
       world.add(node("n2").a100_80(4).label("tier", "mig"));
       take(world, RolloutPhase::kFailed);
     },
     "NodeFailed", "Stalled NodeFailed", "Failed", "Degraded"},
    {"others-wait-behind-a-failed-node",
     [](PlannedCluster& world) {
       begin(world);
       world.add(node("n2").a100_80(4).label("tier", "mig"));
       edit(world, [](MIGLayout& now) { now.spec.rollout.max_failures = 2; });
       take(world, RolloutPhase::kFailed);
     },
     "NodeFailed", "Stalled NodeFailed", "Failed", "Degraded"},
    {"deleting",
     [](PlannedCluster& world) {
       begin(world);
       take(world, RolloutPhase::kApplying);
       edit(world, [&](MIGLayout& now) { now.meta.deletion_timestamp = world.now; });
     },
     "Deleting", "Reconciling Deleting", "Terminating", "Progressing"},
    {"deleting-and-the-node-cant-be-written",
     [](PlannedCluster& world) {
       begin(world);
       take(world, RolloutPhase::kApplying);
       refuse(world, ref_of(n1(world)), names::kManagerMig);
       edit(world, [&](MIGLayout& now) { now.meta.deletion_timestamp = world.now; });
     },
     "WriteRefused", "Stalled WriteRefused", "Terminating", "Degraded"},
};

constexpr char kSliced[] =
    "pools: [{name: dev, nodeSelector: {matchLabels: {tier: mig}}, sharing: {strategy: "
    "TimeSlicing, replicas: 4}}]";

// As in its pool, except for the device plugin's config.
NodeBuilder in_dev() {
  return node("n1")
      .a100_80(4)
      .label("tier", "mig")
      .label(names::kPoolLabel, "dev")
      .annotation(
          names::kPoolKeysAnnotation,
          R"({"pool":"dev","labels":{"gpu.berth.dev/pool":"dev"},"taints":[],"corrections":0})");
}
// NVIDIA's operator makes the device plugin read the file, which has the pool's config.
void serve(PlannedCluster& world, const GPUClusterPolicy& policy) {
  ClusterPolicy nvidia;
  nvidia.meta.name = "cluster-policy";
  nvidia.meta.uid = "uid-cluster-policy";
  nvidia.device_plugin_config_map = "berth-device-plugin-config";
  world.add(nvidia);
  ConfigMap file;
  file.meta.name = "berth-device-plugin-config";
  file.meta.namespace_ = "gpu-operator";
  file.meta.uid = "uid-file";
  file.meta.annotations.set("gpu.berth.dev/rendered-at",
                            format_micro_time(world.now - std::chrono::hours(1)));
  file.data = plugin_configs(policy.spec.pools, {}, {});
  world.add(file);
}

const State kPolicies[] = {
    {"in-place",
     [](PlannedCluster& world) {
       const GPUClusterPolicy sliced = policy(kSliced);
       world.add(sliced);
       serve(world, sliced);
       world.add(in_dev().label(names::kDevicePluginConfig,
                                render_plugin_config(sliced.spec.pools[0])->key));
     },
     "PoolsInPlace", "", "Current", "Healthy"},
    {"stopped",
     [](PlannedCluster& world) {
       world.add_nodes(1).add(policy("pools: [{name: dev, nodeSelector: {}}]"));
       world.stop("incident 4711");
     },
     "OperationsStopped", "", "InProgress", "Suspended"},
    {"labelling",
     [](PlannedCluster& world) {
       world.add_nodes(1).add(policy("pools: [{name: dev, nodeSelector: {}}]"));
     },
     "Labelling", "Reconciling Labelling", "InProgress", "Progressing"},
    {"window",
     [](PlannedCluster& world) {
       const GPUClusterPolicy sliced =
           policy(std::string(kSliced) +
                  ", disruption: {blackouts: [{schedule: \"0 8 * * *\", duration: 10h}]}");
       world.add(sliced);
       serve(world, sliced);
       world.add(in_dev());
       world.add(pod("p").on("n1").gpu(1));
     },
     "DisruptionWindow", "Reconciling DisruptionWindow", "InProgress", "Progressing"},
    {"plugin-not-configured",
     [](PlannedCluster& world) {
       world.add(policy(kSliced));
       world.add(in_dev());
     },
     "PluginNotConfigured", "Stalled PluginNotConfigured", "Failed", "Degraded"},
    {"one-class-taken-while-nodes-are-labelled",
     [](PlannedCluster& world) {
       world.add_nodes(1).add(policy(
           "pools: [{name: dev, nodeSelector: {}}], priorityClasses: [{name: high, value: 7}]"));
       PriorityClass theirs;
       theirs.meta.name = "high";
       theirs.meta.uid = "uid-high";
       theirs.value = 8;
       world.add(theirs);
     },
     "PriorityClassTaken", "Reconciling Labelling", "InProgress", "Progressing"},
    {"one-class-taken",
     [](PlannedCluster& world) {
       world.add(policy("pools: [], priorityClasses: [{name: high, value: 7}]"));
       PriorityClass theirs;
       theirs.meta.name = "high";
       theirs.meta.uid = "uid-high";
       theirs.value = 8;
       world.add(theirs);
     },
     "PriorityClassTaken", "Stalled PriorityClassTaken", "Failed", "Degraded"},
    {"write-refused",
     [](PlannedCluster& world) {
       world.add_nodes(1).add(policy("pools: [{name: dev, nodeSelector: {}}]"));
       refuse(world, ref_of(n1(world)), names::kManagerPolicy);
     },
     "WriteRefused", "Stalled WriteRefused", "Failed", "Degraded"},
    {"agents-mismatch",
     [](PlannedCluster& world) {
       world.add_nodes(1).add(policy("agents: {namespace: nvidia}, pools: []"));
     },
     "AgentsMismatch", "Stalled AgentsMismatch", "Failed", "Degraded"},
    {"retreating",
     [](PlannedCluster& world) {
       GPUClusterPolicy going =
           policy("pools: [{name: dev, nodeSelector: {}}], deletionPolicy: Remove");
       going.meta.deletion_timestamp = world.now;
       world.add(going).add(in_dev());
     },
     "Retreating", "Reconciling Retreating", "Terminating", "Progressing"},
};

json paused(const MIGLayout& layout) {
  return {{"rollout", {{"paused", layout.spec.rollout.paused}}}};
}

TEST(States, OfALayout) {
  for (const State& state : kLayouts) {
    SCOPED_TRACE(state.name);
    PlannedCluster world;
    state.make(world);
    const Plan plan = world.plan("layout/small");
    ASSERT_FALSE(plan.statuses.empty());
    const MIGLayout& layout = *world.cluster.mig_layouts().find("small");
    expect_state(state, object_of(layout, plan.statuses.front().body, paused(layout)));
  }
}

TEST(States, OfThePolicy) {
  for (const State& state : kPolicies) {
    SCOPED_TRACE(state.name);
    PlannedCluster world;
    state.make(world);
    const Plan plan = world.plan("policy");
    ASSERT_FALSE(plan.statuses.empty());
    expect_state(state, object_of(*world.cluster.gpu_policies().find("cluster"),
                                  plan.statuses.front().body, json::object()));
  }
}

TEST(States, ThatBerthHasNotLookedAt) {
  PlannedCluster world;
  begin(world);
  write_state("not-looked-at", object_of(small(), "{}", json::object()), "Current", "Progressing");
  world.add(finished(world));
  MIGLayout edited = small();
  json object = object_of(edited, world.plan("layout/small").statuses.front().body, json::object());
  object["metadata"]["generation"] = edited.meta.generation + 1;
  write_state("edited-since", object, "InProgress", "Progressing");
}

}  // namespace
}  // namespace berth::test
