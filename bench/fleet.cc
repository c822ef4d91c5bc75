// SPDX-License-Identifier: Apache-2.0
#include "bench/fleet.h"

#include <fmt/format.h>

#include <cstdlib>
#include <string>

#include "apis/codec/decode.h"

namespace berth {
namespace {

using nlohmann::json;

constexpr int kPodsPerApp = 100;
constexpr int kAppsPerNamespace = 4;
constexpr int kJobEvery = 10;  // apps
constexpr char kProduct[] = "NVIDIA-A100-SXM4-80GB";
constexpr char kAgents[] = "gpu-operator";

std::string uid(int kind, int i) { return fmt::format("{:08x}-0000-4000-8000-{:012d}", kind, i); }
std::string app_name(int app) { return fmt::format("app-{:05d}", app); }
std::string namespace_of(int app) { return fmt::format("team-{:04d}", app / kAppsPerNamespace); }
bool is_job(int app) { return app % kJobEvery == kJobEvery - 1; }

json meta(std::string name, std::string uid, json labels = json::object()) {
  return {{"name", std::move(name)},
          {"uid", std::move(uid)},
          {"resourceVersion", "100000"},
          {"creationTimestamp", "2026-09-01T08:00:00Z"},
          {"labels", std::move(labels)}};
}

json namespaced_meta(std::string name, std::string namespace_, std::string uid,
                     json labels = json::object()) {
  json m = meta(std::move(name), std::move(uid), std::move(labels));
  m["namespace"] = std::move(namespace_);
  return m;
}

json make_node(int i) {
  const std::string name = fmt::format("gpu-{:05d}", i);
  json labels = {
      {"kubernetes.io/hostname", name},
      {"topology.kubernetes.io/zone", fmt::format("eu-1{}", static_cast<char>('a' + i % 3))},
      {"nvidia.com/gpu.product", kProduct},
      {"nvidia.com/gpu.count", "16"},
      {"nvidia.com/gpu.present", "true"},
      {"nvidia.com/gpu.replicas", "1"},
      {"nvidia.com/gpu.sharing-strategy", "none"},
      {"nvidia.com/mig.capable", "true"},
      {"nvidia.com/mig.config", "all-disabled"},
      {"nvidia.com/mig.config.state", "success"},
      {"nvidia.com/mig.strategy", "mixed"}};
  for (const char* operand :
       {"driver", "dcgm", "dcgm-exporter", "container-toolkit", "device-plugin",
        "gpu-feature-discovery", "mig-manager", "operator-validator"})
    labels["nvidia.com/gpu.deploy." + std::string(operand)] = "true";
  const json resources = {{"cpu", "128"},
                          {"memory", "2113393996Ki"},
                          {"pods", "110"},
                          {"ephemeral-storage", "7500738092Ki"},
                          {"nvidia.com/gpu", "16"}};
  json m = meta(name, uid(1, i), labels);
  m["annotations"] = {{"volumes.kubernetes.io/controller-managed-attach-detach", "true"}};
  return {{"apiVersion", "v1"},
          {"kind", "Node"},
          {"metadata", m},
          {"spec", json::object()},
          {"status",
           {{"capacity", resources},
            {"allocatable", resources},
            {"conditions", {{{"type", "Ready"}, {"status", "True"}}}},
            {"nodeInfo", {{"bootID", uid(2, i)}}}}}};
}

json make_pod(int i, int nodes) {
  const int app = i / kPodsPerApp;
  json m = namespaced_meta(fmt::format("{}-{:05d}", app_name(app), i), namespace_of(app), uid(3, i),
                           {{"app", app_name(app)}, {"team", namespace_of(app)}});
  m["ownerReferences"] = {{{"apiVersion", is_job(app) ? "batch/v1" : "apps/v1"},
                           {"kind", is_job(app) ? "Job" : "ReplicaSet"},
                           {"name", app_name(app)},
                           {"uid", uid(4, app)},
                           {"controller", true}}};
  const json resources = {{"cpu", "8"}, {"memory", "64Gi"}, {"nvidia.com/gpu", "1"}};
  return {
      {"apiVersion", "v1"},
      {"kind", "Pod"},
      {"metadata", m},
      {"spec",
       {{"nodeName", fmt::format("gpu-{:05d}", i / 10 % nodes)},
        {"schedulerName", "default-scheduler"},
        {"tolerations", {{{"key", "nvidia.com/gpu"}, {"operator", "Exists"}}}},
        {"containers",
         {{{"name", "main"}, {"resources", {{"requests", resources}, {"limits", resources}}}}}}}},
      {"status", {{"phase", "Running"}, {"startTime", "2026-09-01T09:00:00Z"}}}};
}

json make_budget(int app) {
  return {
      {"apiVersion", "policy/v1"},
      {"kind", "PodDisruptionBudget"},
      {"metadata", namespaced_meta(app_name(app), namespace_of(app), uid(5, app))},
      {"spec", {{"maxUnavailable", 10}, {"selector", {{"matchLabels", {{"app", app_name(app)}}}}}}},
      {"status",
       {{"disruptionsAllowed", 10},
        {"currentHealthy", kPodsPerApp},
        {"desiredHealthy", kPodsPerApp - 10},
        {"expectedPods", kPodsPerApp},
        {"observedGeneration", 1}}}};
}

json make_job(int app) {
  return {{"apiVersion", "batch/v1"},
          {"kind", "Job"},
          {"metadata", namespaced_meta(app_name(app), namespace_of(app), uid(4, app))},
          {"spec", {{"backoffLimit", 0}, {"parallelism", kPodsPerApp}}},
          {"status", {{"active", kPodsPerApp}}}};
}

json make_layout() {
  return {{"apiVersion", "gpu.berth.dev/v1alpha1"},
          {"kind", "MIGLayout"},
          {"metadata", meta("inference", uid(6, 0))},
          {"spec",
           {{"productSelector", {kProduct}},
            {"devices", {{{"profiles", {{"1g.10gb", 7}}}}}},
            {"rollout", {{"maxUnavailable", 8}, {"initialBatch", 1}}},
            {"capacityGuard", {{"retire", {"nvidia.com/gpu"}}}}}}};
}

json make_mig_manager() {
  const json volume = {{"name", "mig-parted-config"},
                       {"configMap", {{"name", "berth-mig-parted-config"}}}};
  return {{"apiVersion", "apps/v1"},
          {"kind", "DaemonSet"},
          {"metadata", namespaced_meta("nvidia-mig-manager", kAgents, uid(7, 0))},
          {"spec",
           {{"template",
             {{"spec",
               {{"nodeSelector", {{"nvidia.com/gpu.deploy.mig-manager", "true"}}},
                {"tolerations", {{{"key", "nvidia.com/gpu"}, {"operator", "Exists"}}}},
                {"volumes", json::array({volume})}}}}}}}};
}

json make_cluster_policy() {
  return {{"apiVersion", "nvidia.com/v1"},
          {"kind", "ClusterPolicy"},
          {"metadata", meta("cluster-policy", uid(8, 0))},
          {"spec",
           {{"mig", {{"strategy", "mixed"}}},
            {"migManager", {{"config", {{"name", "berth-mig-parted-config"}}}}}}}};
}

template <class T>
void load_all(const std::vector<json>& objects, ClusterState& cluster) {
  for (const json& object : objects) {
    std::string text = object.dump();
    Result<T> decoded = decode_object<T>(text);
    if (!decoded.has_value()) {
      fmt::print(stderr, "fleet: {}\n", describe(decoded.error()));
      std::abort();
    }
    cluster.upsert(std::move(decoded).value(), Time{});
  }
}

}  // namespace

Fleet make_fleet(const FleetSize& size) {
  Fleet fleet;
  for (int i = 0; i < size.nodes; ++i) fleet.nodes.push_back(make_node(i));
  for (int i = 0; i < size.pods; ++i) fleet.pods.push_back(make_pod(i, size.nodes));
  for (int app = 0; app * kPodsPerApp < size.pods; ++app) {
    fleet.budgets.push_back(make_budget(app));
    if (is_job(app)) fleet.jobs.push_back(make_job(app));
  }
  fleet.layouts.push_back(make_layout());
  fleet.daemon_sets.push_back(make_mig_manager());
  fleet.cluster_policies.push_back(make_cluster_policy());
  return fleet;
}

ClusterState load(const Fleet& fleet) {
  ClusterState cluster;
  load_all<Node>(fleet.nodes, cluster);
  load_all<Pod>(fleet.pods, cluster);
  load_all<PodDisruptionBudget>(fleet.budgets, cluster);
  load_all<Job>(fleet.jobs, cluster);
  load_all<MIGLayout>(fleet.layouts, cluster);
  load_all<DaemonSet>(fleet.daemon_sets, cluster);
  load_all<ConfigMap>(fleet.config_maps, cluster);
  load_all<ClusterPolicy>(fleet.cluster_policies, cluster);
  return cluster;
}

}  // namespace berth
