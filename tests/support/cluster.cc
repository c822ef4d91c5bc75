// SPDX-License-Identifier: Apache-2.0
#include "tests/support/cluster.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace berth::test {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr const char* kTenants[] = {"team-a", "team-b", "default"};

constexpr char kClusterPolicyCrd[] = R"(
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: clusterpolicies.nvidia.com}
spec:
  group: nvidia.com
  scope: Cluster
  names: {plural: clusterpolicies, singular: clusterpolicy, kind: ClusterPolicy, listKind: ClusterPolicyList}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
)";

}  // namespace

void Cluster::install_agents(const sim::OperandOptions& agents) {
  for (const json& set : sim::operand_daemon_sets(agents))
    kube_.patch({"daemonsets", set["metadata"]["name"], agents.namespace_}, PatchType::kApply,
                set.dump());
}

void Cluster::install_cluster_policy(const std::string& strategy, const std::string& config_map) {
  kube_.apply(kClusterPolicyCrd);
  wait_until("the ClusterPolicy kind to be served", seconds(30), [&]() -> std::string {
    kube_.list("clusterpolicies");
    return "";
  });
  json spec = {{"mig", {{"strategy", strategy}}}, {"migManager", {{"enabled", true}}}};
  if (!config_map.empty())
    spec["migManager"]["config"] = {{"name", config_map}, {"default", "all-disabled"}};
  const json body = {{"apiVersion", "nvidia.com/v1"},
                     {"kind", "ClusterPolicy"},
                     {"metadata", {{"name", "cluster-policy"}}},
                     {"spec", spec}};
  kube_.patch({"clusterpolicies", "cluster-policy"}, PatchType::kApply, body.dump());
}

void Cluster::add_gpu_node(const GpuNode& node) {
  json annotations = {{"test.berth.dev/product", node.product},
                      {"test.berth.dev/gpus", std::to_string(node.gpus)}};
  for (const auto& [key, value] : node.annotations) annotations[key] = value;
  const json amounts = {{"cpu", "64"},
                        {"memory", "512Gi"},
                        {"pods", "110"},
                        {"nvidia.com/gpu", std::to_string(node.gpus)}};
  json body = {{"apiVersion", "v1"},
               {"kind", "Node"},
               {"metadata",
                {{"name", node.name},
                 {"labels",
                  sim::usual_node_labels(node.name, node.product, node.gpus, "mixed", node.labels)},
                 {"annotations", annotations}}},
               {"status",
                {{"capacity", amounts},
                 {"allocatable", amounts},
                 {"nodeInfo", {{"bootID", "b007" + node.name}, {"kubeletVersion", "v1.36.3"}}}}}};
  if (node.cordoned) body["spec"]["unschedulable"] = true;
  kube_.create("nodes", "", body.dump());
}

std::vector<std::string> Cluster::add_gpu_nodes(int count, const GpuNode& like,
                                                const std::string& prefix) {
  std::vector<std::string> names;
  for (int i = 1; i <= count; ++i) {
    GpuNode node = like;
    node.name = prefix + std::to_string(i);
    add_gpu_node(node);
    names.push_back(node.name);
  }
  return names;
}

void Cluster::remove_node(const std::string& name) {
  kube_.remove({"nodes", name});
  for (const Object& pod : pods_on(name))
    kube_.remove({"pods", pod.name(), pod.ns()}, R"({"gracePeriodSeconds": 0})");
}

void Cluster::wait_agents_running(milliseconds limit) {
  wait_until("NVIDIA's DaemonSets to run on every node", limit, [&]() -> std::string {
    const std::size_t nodes = kube_.list("nodes").size();
    for (const char* operand : {sim::kManagerApp, sim::kPluginApp, sim::kDiscoveryApp}) {
      const Object set = kube_.get({"daemonsets", operand, "gpu-operator"});
      if (set.number("/status/numberReady") != static_cast<long long>(nodes))
        return fmt::format("{} runs on {} of {} nodes", operand, set.number("/status/numberReady"),
                           nodes);
    }
    return "";
  });
}

std::string Cluster::pod_spec(const Workload& workload) const {
  json container = {{"name", "main"}, {"image", "registry.example/main:1"}};
  if (workload.count > 0)
    container["resources"]["limits"][workload.resource] = std::to_string(workload.count);
  json spec = {{"containers", {container}},
               {"terminationGracePeriodSeconds", workload.grace_seconds}};
  if (!workload.node_selector.empty()) spec["nodeSelector"] = workload.node_selector;
  if (!workload.priority_class.empty()) spec["priorityClassName"] = workload.priority_class;
  if (!workload.extra_pod_spec.empty())
    spec.update(json::parse("{" + workload.extra_pod_spec + "}"));
  json labels = workload.labels;
  labels["app"] = workload.name;
  const json annotations = workload.annotations;
  return json{{"metadata", {{"labels", labels}, {"annotations", annotations}}}, {"spec", spec}}
      .dump();
}

void Cluster::add_deployment(const Workload& workload) {
  const json body = {{"metadata", {{"name", workload.name}}},
                     {"spec",
                      {{"replicas", workload.replicas},
                       {"selector", {{"matchLabels", {{"app", workload.name}}}}},
                       {"template", json::parse(pod_spec(workload))}}}};
  kube_.create("deployments", workload.ns, body.dump());
}

void Cluster::remove_deployment(const std::string& ns, const std::string& name) {
  kube_.patch({"deployments", name, ns}, PatchType::kMerge, R"({"spec": {"replicas": 0}})");
  wait_until("the pods of " + name + " to be gone", seconds(30), [&]() -> std::string {
    // Until the controller has seen the new number of replicas, it replaces each deleted pod.
    for (const Object& set : kube_.list("replicasets", ns, "labelSelector=app%3D" + name))
      if (set.number("/spec/replicas") != 0 ||
          set.number("/status/observedGeneration") != set.number("/metadata/generation"))
        return "the ReplicaSet is still at work";
    for (const Object& pod : pods_of(ns, name))
      kube_.remove({"pods", pod.name(), ns}, R"({"gracePeriodSeconds": 0})");
    return pods_of(ns, name).empty() ? "" : "some are left";
  });
  kube_.remove({"deployments", name, ns}, R"({"propagationPolicy": "Background"})");
}

void Cluster::add_job(const Workload& workload, const JobOptions& options) {
  json pod = json::parse(pod_spec(workload));
  pod["spec"]["restartPolicy"] = "Never";
  json spec = {{"backoffLimit", options.backoff_limit},
               {"parallelism", workload.replicas},
               {"completions", workload.replicas},
               {"template", pod}};
  if (options.ignore_disruptions)
    spec["podFailurePolicy"]["rules"] = {
        {{"action", "Ignore"},
         {"onPodConditions", {{{"type", "DisruptionTarget"}, {"status", "True"}}}}}};
  kube_.create("jobs", workload.ns,
               json{{"metadata", {{"name", workload.name}}}, {"spec", spec}}.dump());
}

void Cluster::add_bare_pod(const Workload& workload) {
  json pod = json::parse(pod_spec(workload));
  pod["metadata"]["name"] = workload.name;
  kube_.create("pods", workload.ns, pod.dump());
}

void Cluster::add_budget(const std::string& ns, const std::string& name, const std::string& app,
                         const std::string& rule) {
  kube_.apply(fmt::format(
      "{{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {{name: {}, namespace: {}}}, "
      "spec: {{selector: {{matchLabels: {{app: {}}}}}, {}}}}}",
      name, ns, app, rule));
}

void Cluster::wait_pods_running(const std::string& ns, const std::string& app, int count,
                                milliseconds limit) {
  wait_until(fmt::format("{} running pods of {}/{}", count, ns, app), limit, [&]() -> std::string {
    int running = 0;
    for (const Object& pod : pods_of(ns, app))
      if (pod.text("/status/phase") == "Running" && !pod.has("/metadata/deletionTimestamp"))
        ++running;
    return running >= count ? "" : fmt::format("{} run", running);
  });
}

std::vector<Object> Cluster::pods_of(const std::string& ns, const std::string& app) {
  return kube_.list("pods", ns, "labelSelector=app%3D" + app);
}

std::vector<Object> Cluster::pods_on(const std::string& node) {
  return kube_.list("pods", "", "fieldSelector=spec.nodeName%3D" + node);
}

void Cluster::finish_pods(const std::string& ns, const std::string& app) {
  for (const Object& pod : pods_of(ns, app))
    kube_.set_annotation({"pods", pod.name(), ns}, "test.berth.dev/finish", "true");
}

std::map<std::string, int> Cluster::gpu_allocatable(const std::string& node) {
  std::map<std::string, int> out;
  for (const auto& [key, value] : kube_.get({"nodes", node}).strings("/status/allocatable"))
    if (key.rfind("nvidia.com/", 0) == 0 && value != "0") out[key] = std::atoi(value.c_str());
  return out;
}

void Cluster::remove_pods(const std::string& ns) {
  for (const Object& pod : kube_.list("pods", ns)) {
    if (!pod.items("/metadata/finalizers").empty() || pod.has("/metadata/finalizers"))
      kube_.send("PATCH", path_of({"pods", pod.name(), ns}), R"({"metadata":{"finalizers":null}})",
                 "application/merge-patch+json");
    kube_.remove({"pods", pod.name(), ns}, R"({"gracePeriodSeconds": 0})");
  }
}

void Cluster::reset() {
  for (const char* resource : {"miglayouts", "gpuclusterpolicies", "gpuqueues"})
    for (const Object& ours : kube_.list(resource)) {
      kube_.patch({resource, ours.name()}, PatchType::kMerge,
                  R"({"metadata":{"finalizers":null}})");
      kube_.remove({resource, ours.name()});
    }
  for (const Object& made : kube_.list("priorityclasses"))
    if (!made.annotation("gpu.berth.dev/owner").empty())
      kube_.remove({"priorityclasses", made.name()});
  const std::string background = R"({"propagationPolicy": "Background"})";
  for (const char* ns : kTenants)
    for (const char* resource : {"deployments", "jobs", "poddisruptionbudgets"})
      for (const Object& object : kube_.list(resource, ns))
        kube_.remove({resource, object.name(), ns}, background);
  for (const Object& node : kube_.list("nodes")) kube_.remove({"nodes", node.name()});
  for (const char* ns : {"berth-system", "gpu-operator"})
    for (const Object& map : kube_.list("configmaps", ns))
      if (map.name().rfind("berth-", 0) == 0) kube_.remove({"configmaps", map.name(), ns});
  for (const Object& lease : kube_.list("leases", "berth-system"))
    kube_.remove({"leases", lease.name(), "berth-system"});
  wait_until("every pod to be gone", seconds(60), [&]() -> std::string {
    std::size_t left = 0;
    for (const char* ns : {"team-a", "team-b", "default", "gpu-operator"}) {
      remove_pods(ns);
      left += kube_.list("pods", ns).size();
    }
    return left == 0 ? "" : fmt::format("{} are left", left);
  });
}

}  // namespace berth::test
