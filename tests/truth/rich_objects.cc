// SPDX-License-Identifier: Apache-2.0
#define PROTOZERO_USE_VIEW std::string_view
#include "tests/truth/rich_objects.h"

#include <algorithm>
#include <functional>
#include <protozero/pbf_writer.hpp>
#include <stdexcept>

namespace berth::truth {
namespace {

constexpr char kNamespace[] = "encodings";

// berth's own annotations, an owner, a finalizer; then the pod's requests and its constraints on
// nodes.
constexpr char kBoundPod[] =
    R"({"metadata": {"name": "bound", "labels": {"app": "train", "empty": ""},
"annotations": {"gpu.berth.dev/last-checkpoint": "2026-11-21T14:00:00Z \u00e4\u2713", "other": "dropped",
  "cluster-autoscaler.kubernetes.io/safe-to-evict": "false"},
"ownerReferences": [{"apiVersion": "batch/v1", "kind": "Job", "name": "train", "uid": "77", "controller": true},
  {"apiVersion": "v1", "kind": "ConfigMap", "name": "train", "uid": "78"}],
"finalizers": ["example.com/kept"]},
"spec": {"nodeName": "rich", "schedulerName": "another", "priorityClassName": "encodings", "terminationGracePeriodSeconds": 60,
"runtimeClassName": "encodings", "overhead": {"cpu": "10m"}, "nodeSelector": {"tier": "gold", "zone": "a"},
"volumes": [{"name": "c", "configMap": {"name": "x"}}, {"name": "tmp", "emptyDir": {}}],
"initContainers": [
  {"name": "proxy", "image": "i", "restartPolicy": "Always", "resources": {"requests": {"cpu": "100m"}}},
  {"name": "fetch", "image": "i", "resources": {"requests": {"cpu": "3", "memory": "1Gi"}, "limits": {"cpu": "4"}}}],
"containers": [
  {"name": "a", "image": "i", "resources": {"limits": {"nvidia.com/gpu": "2"}, "requests": {"cpu": "500m", "memory": "2Gi"}}},
  {"name": "b", "image": "i"}, {"name": "c", "image": "i", "resources": {"requests": {"cpu": "250m"}}}],
"tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"},
  {"key": "team", "operator": "Equal", "value": "vision", "effect": "NoExecute", "tolerationSeconds": 5}],
"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
  {"matchExpressions": [{"key": "zone", "operator": "In", "values": ["a", "b"]}, {"key": "n", "operator": "Gt", "values": ["4"]}],
   "matchFields": [{"key": "metadata.name", "operator": "NotIn", "values": ["n9"]}]},
  {"matchExpressions": [{"key": "spot", "operator": "DoesNotExist"}]}]},
  "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "preference": {"matchExpressions": [{"key": "x", "operator": "Exists"}]}}]}}}})";

constexpr char kGatedPod[] =
    R"({"metadata": {"generateName": "gated-"}, "spec": {"schedulingGates": [{"name": "gpu.berth.dev/queue"}, {"name": "example.com/last"}],
"affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "kubernetes.io/hostname"}]}},
"topologySpreadConstraints": [{"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}],
"volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}],
"resourceClaims": [{"name": "gpu", "resourceClaimName": "one"}],
"resources": {"requests": {"cpu": "8", "memory": "4Gi"}, "limits": {"cpu": "8"}},
"containers": [{"name": "a", "image": "i", "ports": [{"containerPort": 80, "hostPort": 8080}],
  "resources": {"requests": {"cpu": "1", "ephemeral-storage": "1500M"}}}]}})";

constexpr char kNode[] =
    R"({"metadata": {"name": "rich", "labels": {"nvidia.com/gpu.count": "4"}, "annotations": {"gpu.berth.dev/mig-rollout": "{\"seq\":1}",
"volumes.kubernetes.io/controller-managed-attach-detach": "true"}},
"spec": {"podCIDR": "10.0.0.0/24", "unschedulable": true, "taints": [
  {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule", "timeAdded": "2026-11-21T14:22:49Z"},
  {"key": "pool", "value": "train", "effect": "NoExecute"}]}})";
constexpr char kOpenNode[] = R"({"metadata": {"name": "open"}, "spec": {"unschedulable": false}})";

constexpr char kNodeStatus[] =
    R"({"status": {"capacity": {"cpu": "64", "nvidia.com/gpu": "4", "memory": "263Gi"},
"allocatable": {"cpu": "63500m", "memory": "1.5e9", "nvidia.com/gpu": "0", "nvidia.com/mig-1g.10gb": "14"},
"conditions": [{"type": "MemoryPressure", "status": "False", "lastHeartbeatTime": "2026-11-21T14:22:49Z", "lastTransitionTime": null},
  {"type": "Ready", "status": "True"}, {"type": "DiskPressure", "status": "True"}],
"nodeInfo": {"machineID": "m", "systemUUID": "u", "bootID": "b-1", "kernelVersion": "", "osImage": "", "containerRuntimeVersion": "",
  "kubeletVersion": "", "kubeProxyVersion": "", "operatingSystem": "linux", "architecture": "amd64"}}})";
constexpr char kPodStatus[] =
    R"({"status": {"phase": "Running", "startTime": "2026-11-21T14:23:00Z", "conditions": [{"type": "Ready", "status": "True"}]}})";

// A node with bytes in an annotation that are not UTF-8, which only a client that writes protobuf
// can send. The field numbers are those of Unknown, Node and ObjectMeta.
std::string node_with_foreign_bytes() {
  std::string type_meta, meta, annotation, node, unknown = std::string("k8s\0", 4);
  protozero::pbf_writer(type_meta).add_string(1, "v1");
  protozero::pbf_writer(type_meta).add_string(2, "Node");
  protozero::pbf_writer(annotation).add_string(1, "gpu.berth.dev/hold");
  protozero::pbf_writer(annotation).add_string(2, "caf\xe9 \xff!");
  protozero::pbf_writer(meta).add_string(1, "foreign");
  protozero::pbf_writer(meta).add_message(12, annotation);
  protozero::pbf_writer(node).add_message(1, meta);
  protozero::pbf_writer(unknown).add_message(1, type_meta);
  protozero::pbf_writer(unknown).add_bytes(2, node);
  return unknown;
}

template <class T>
bool any(const std::vector<T>& objects, const std::function<bool(const T&)>& has) {
  return std::ranges::any_of(objects, has);
}

}  // namespace

void create_rich_objects(test::Kube& kube) {
  kube.create("namespaces", "", R"({"metadata": {"name": "encodings"}})");
  const test::Reply runtime = kube.send(
      "POST", "/apis/node.k8s.io/v1/runtimeclasses",
      R"({"metadata": {"name": "encodings"}, "handler": "x", "overhead": {"podFixed": {"cpu": "10m"}}})");
  if (!runtime.ok()) throw std::runtime_error("no RuntimeClass: " + runtime.body.dump());
  kube.create("priorityclasses", "", R"({"metadata": {"name": "encodings"}, "value": -5})");
  kube.create("nodes", "", kNode);
  kube.create("nodes", "", kOpenNode);
  kube.patch({"nodes", "rich"}, test::PatchType::kMerge, kNodeStatus, "status");
  const test::Reply foreign = kube.send("POST", "/api/v1/nodes", node_with_foreign_bytes(),
                                        "application/vnd.kubernetes.protobuf");
  if (!foreign.ok()) throw std::runtime_error("no node from protobuf: " + foreign.body.dump());
  // It is deleted and kept by its finalizer, so that it has a deletionTimestamp.
  kube.create("pods", kNamespace, kBoundPod);
  kube.patch({"pods", "bound", kNamespace}, test::PatchType::kMerge, kPodStatus, "status");
  kube.remove({"pods", "bound", kNamespace});
  kube.create("pods", kNamespace, kGatedPod);
}

std::vector<std::string> fields_missing(const std::vector<Pod>& pods,
                                        const std::vector<Node>& nodes) {
  std::vector<std::string> missing;
  const auto pod = [&](const char* field, const std::function<bool(const Pod&)>& has) {
    if (!any<Pod>(pods, has)) missing.push_back(field);
  };
  const auto node = [&](const char* field, const std::function<bool(const Node&)>& has) {
    if (!any<Node>(nodes, has)) missing.push_back(field);
  };
  pod("namespace", [](const Pod& p) { return p.meta.namespace_ == kNamespace; });
  pod("uid", [](const Pod& p) { return !p.meta.uid.empty(); });
  pod("generation", [](const Pod& p) { return p.meta.generation > 1; });
  pod("creationTimestamp", [](const Pod& p) { return p.meta.creation_timestamp > Time{}; });
  pod("deletionTimestamp", [](const Pod& p) { return p.terminating(); });
  pod("labels", [](const Pod& p) { return p.meta.labels.size() > 1; });
  pod("annotations", [](const Pod& p) { return p.meta.annotations.size() == 2; });
  pod("ownerReferences", [](const Pod& p) { return p.meta.controller() != nullptr; });
  pod("finalizers", [](const Pod& p) { return !p.meta.finalizers.empty(); });
  pod("nodeName", [](const Pod& p) { return !p.node_name.empty(); });
  pod("phase", [](const Pod& p) { return p.phase == PodPhase::kRunning; });
  pod("emptyDir", [](const Pod& p) { return p.has_empty_dir; });
  pod("resourceClaims", [](const Pod& p) { return p.shape->claims_devices(); });
  pod("schedulingGates", [](const Pod& p) { return p.shape->gated(); });
  pod("priority", [](const Pod& p) { return p.shape->priority == -5; });
  pod("terminationGracePeriodSeconds",
      [](const Pod& p) { return p.termination_grace_period_seconds == 60; });
  pod("schedulerName", [](const Pod& p) { return p.shape->scheduler_name == "another"; });
  pod("init containers, a sidecar and overhead",
      [](const Pod& p) { return p.shape->requests.get("cpu").str() == "3110m"; });
  pod("the pod's own requests",
      [](const Pod& p) { return p.shape->requests.get("cpu").str() == "8"; });
  pod("nodeSelector", [](const Pod& p) { return p.shape->node_selector.size() == 2; });
  pod("tolerations", [](const Pod& p) { return p.shape->tolerations.size() >= 2; });
  pod("affinity", [](const Pod& p) {
    return p.shape->required_node_affinity.size() == 2 &&
           !p.shape->required_node_affinity[0].match_fields.empty();
  });
  pod("gates in their order", [](const Pod& p) { return p.shape->scheduling_gates.size() == 2; });
  pod("affinity without node affinity",
      [](const Pod& p) { return p.shape->has_affinity && !p.shape->has_node_affinity; });
  pod("another scheduler",
      [](const Pod& p) { return p.shape->unmodelled == Unmodelled::kOtherScheduler; });
  pod("all else that is not modelled", [](const Pod& p) {
    return p.shape->unmodelled ==
           (Unmodelled::kPodAffinity | Unmodelled::kTopologySpread | Unmodelled::kHostPorts |
            Unmodelled::kVolumes | Unmodelled::kResourceClaims);
  });
  pod("startTime", [](const Pod& p) { return p.start_time.has_value(); });
  node("unschedulable", [](const Node& n) { return n.cordoned(); });
  node("no unschedulable", [](const Node& n) { return !n.unschedulable.has_value(); });
  node("taints", [](const Node& n) { return n.taints.size() >= 2; });
  node("capacity", [](const Node& n) { return n.capacity.size() >= 3; });
  node("allocatable", [](const Node& n) { return n.allocatable.size() >= 4; });
  node("Ready", [](const Node& n) { return n.ready; });
  node("bootID", [](const Node& n) { return n.boot_id == "b-1"; });
  node("repaired UTF-8", [](const Node& n) {
    return n.meta.annotations.get("gpu.berth.dev/hold") == "caf\uFFFD \uFFFD!";
  });
  return missing;
}

}  // namespace berth::truth
