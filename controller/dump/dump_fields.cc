// SPDX-License-Identifier: Apache-2.0
#include "controller/dump/dump_fields.h"

#include <initializer_list>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "apis/base/cut.h"
#include "apis/codec/decode.h"
#include "apis/kinds/pod_requests.h"
#include "controller/dump/json_at.h"

namespace berth {
namespace {

using nlohmann::json;
using Paths = std::vector<std::string_view>;

// "a.b[].c" is the field c of each item of list b in object a. The last segment is kept whole.
const Paths kMetadata = {
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
    "metadata.resourceVersion",
    "metadata.generation",
    "metadata.creationTimestamp",
    "metadata.deletionTimestamp",
    "metadata.labels",
    "metadata.ownerReferences",
    "metadata.finalizers",
};

// The fields of a pod, and of a Job's template, that make a PodShape.
const Paths kShape = {
    "spec.nodeSelector",
    "spec.tolerations",
    "spec.priority",
    "spec.schedulerName",
    "spec.schedulingGates",
    "spec.overhead",
    "spec.resources.requests",
    "spec.resourceClaims[].name",
    "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution",
    "spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution",
    "spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution",
    "spec.topologySpreadConstraints[].whenUnsatisfiable",
    "spec.containers[].resources.requests",
    "spec.initContainers[].resources.requests",
    "spec.initContainers[].restartPolicy",
    "spec.volumes[].emptyDir",
};

const std::map<std::string_view, Paths> kFields = {
    {"Node",
     {"spec.unschedulable", "spec.taints", "status.capacity", "status.allocatable",
      "status.conditions[].type", "status.conditions[].status", "status.conditions[].reason",
      "status.nodeInfo.bootID"}},
    {"Pod",
     {"spec.nodeName", "spec.restartPolicy", "spec.terminationGracePeriodSeconds", "status.phase",
      "status.startTime", "status.reason", "status.containerStatuses[].state.waiting.reason",
      "status.initContainerStatuses[].state.waiting.reason"}},
    {"PodDisruptionBudget",
     {"spec.selector", "status.disruptionsAllowed", "status.currentHealthy",
      "status.desiredHealthy", "status.expectedPods", "status.observedGeneration"}},
    {"Job",
     {"spec.suspend", "spec.backoffLimit", "spec.parallelism", "spec.completions",
      "spec.completionMode", "spec.activeDeadlineSeconds", "spec.podFailurePolicy",
      "spec.podReplacementPolicy", "spec.template.spec.priorityClassName", "status.active",
      "status.ready", "status.terminating", "status.succeeded", "status.failed",
      "status.uncountedTerminatedPods", "status.startTime", "status.conditions[].type",
      "status.conditions[].status", "status.conditions[].lastTransitionTime"}},
    {"ConfigMap", {"data"}},
    {"DaemonSet",
     {"spec.template.spec.volumes[].configMap.name", "spec.template.spec.nodeSelector",
      "spec.template.spec.tolerations"}},
    {"ClusterPolicy",
     {"spec.mig.strategy", "spec.migManager.config.name", "spec.devicePlugin.config",
      "spec.daemonsets.tolerations"}},
    {"MIGLayout", {"spec", "status"}},
    {"GPUClusterPolicy", {"spec", "status"}},
    {"GPUQueue", {"spec", "status"}},
    {"Namespace", {}},
    {"Deployment", {"spec.replicas", "spec.paused", "status.conditions"}},
    {"ReplicaSet", {"spec.replicas", "status.conditions"}},
    {"StatefulSet", {"spec.replicas"}},
    {"Event",
     {"involvedObject", "reason", "message", "lastTimestamp", "eventTime",
      "series.lastObservedTime"}},
    {"Lease", {"spec"}},
    {"PriorityClass", {"value", "globalDefault", "preemptionPolicy"}},
};

void keep(const json& from, json& to, std::string_view path) {
  const std::size_t dot = path.find('.');
  std::string_view segment = path.substr(0, dot);
  const std::string_view rest = dot == path.npos ? std::string_view() : path.substr(dot + 1);
  const bool list = segment.ends_with("[]");
  if (list) segment.remove_suffix(2);

  auto found = from.is_object() ? from.find(segment) : from.end();
  if (found == from.end() || found->is_null()) return;
  json& kept = to[std::string(segment)];
  // A value of another type than expected is kept as it is, so that the reader can report it.
  if (rest.empty() || (list ? !found->is_array() : !found->is_object())) {
    kept = *found;
  } else if (list) {
    if (!kept.is_array()) kept = json::array();
    for (std::size_t i = 0; i < found->size(); ++i) {
      if (kept.size() <= i) kept.push_back(json::object());
      keep((*found)[i], kept[i], rest);
    }
  } else {
    if (!kept.is_object()) kept = json::object();
    keep(*found, kept, rest);
  }
}

// Drops kubectl's last-applied-configuration, which holds the whole object with its environment.
void keep_annotations(const json& from, json& to) {
  for (const auto& [key, value] : at(from, {"metadata", "annotations"}).items())
    if (keeps_annotation(key)) to["metadata"]["annotations"][key] = value;
}

// The index in env of a variable that names GPUs past the device plugin.
std::optional<std::size_t> visible_devices(const json& container) {
  const json& env = at(container, {"env"});
  for (std::size_t place = 0; env.is_array() && place < env.size(); ++place) {
    if (text_at(env[place], {"name"}) != "NVIDIA_VISIBLE_DEVICES") continue;
    const std::string value = text_at(env[place], {"value"});
    const bool shows_none = value.empty() || value == "void" || value == "none";
    if (!shows_none || !at(env[place], {"valueFrom"}).is_null()) return place;
  }
  return std::nullopt;
}

// The driver requirement of the container's CUDA, in NVIDIA's syntax; empty: none.
std::string required_cuda(const json& container) {
  constexpr std::size_t kLongest = 1024;
  for (const json& variable : at(container, {"env"}))
    if (text_at(variable, {"name"}) == "NVIDIA_REQUIRE_CUDA")
      return std::string(head(text_at(variable, {"value"}), kLongest));
  return {};
}

// Keeps only the index of the one variable and the value of the other from env.
void keep_of_env(const json& from, json& to) {
  for (const std::string_view list : {"containers", "initContainers"}) {
    const json& containers = at(from, {"spec", list});
    if (!containers.is_array()) continue;
    json& kept = to["spec"][list];  // keep_shape() has added all containers
    for (std::size_t i = 0; i < containers.size(); ++i) {
      if (const auto place = visible_devices(containers[i])) kept[i]["visibleDevices"] = *place;
      if (std::string cuda = required_cuda(containers[i]); !cuda.empty())
        kept[i]["requireCuda"] = std::move(cuda);
    }
  }
}

// These fields also limit where the scheduler may put the pod. The dump keeps that they are
// present, never their content.
void keep_bounds(const json& from, json& to) {
  const json& volumes = at(from, {"spec", "volumes"});
  for (std::size_t i = 0; volumes.is_array() && i < volumes.size(); ++i)
    for (const auto& [source, value] : volumes[i].items())
      if (binds_to_nodes(source) && !value.is_null())
        to["spec"]["volumes"][i][source] = json::object();
  for (const char* list : {"containers", "initContainers"}) {
    const json& containers = at(from, {"spec", list});
    for (std::size_t i = 0; containers.is_array() && i < containers.size(); ++i)
      for (const json& port : at(containers[i], {"ports"}))
        if (const json& host_port = at(port, {"hostPort"}); !host_port.is_null())
          to["spec"][list][i]["ports"].push_back({{"hostPort", host_port}});
  }
}

void keep_shape(const json& from, json& to) {
  for (std::string_view path : kShape) keep(from, to, path);
  keep_bounds(from, to);
}

void keep_condition(const json& from, json& to, std::string_view type,
                    std::initializer_list<const char*> fields) {
  for (const json& condition : at(from, {"status", "conditions"})) {
    if (text_at(condition, {"type"}) != type) continue;
    json kept = {{"type", type}};
    for (const char* field : fields) kept[field] = text_at(condition, {field});
    to["status"]["conditions"] = json::array({std::move(kept)});
  }
}

// Keeps the scheduler's message about an unscheduled pod, and since when a scheduled one is Ready.
void keep_condition(const json& from, json& to) {
  if (text_at(from, {"spec", "nodeName"}).empty())
    keep_condition(from, to, "PodScheduled", {"status", "reason", "message"});
  else
    keep_condition(from, to, "Ready", {"status", "lastTransitionTime"});
}

}  // namespace

json trimmed(const json& object, std::string_view kind) {
  auto fields = kFields.find(kind);
  if (fields == kFields.end() || !object.is_object()) return nullptr;
  json out = json::object();
  for (std::string_view path : kMetadata) keep(object, out, path);
  keep_annotations(object, out);
  for (std::string_view path : fields->second) keep(object, out, path);
  if (kind == "Job" && at(object, {"spec", "template"}).is_object()) {
    keep_shape(object["spec"]["template"], out["spec"]["template"]);
    // The API server sets requests from limits in pods, but not in a Job's template.
    for (std::string_view path :
         {"spec.containers[].resources.limits", "spec.initContainers[].resources.limits",
          "spec.resources.limits"})
      keep(object["spec"]["template"], out["spec"]["template"], path);
  }
  if (kind == "Pod") {
    keep_shape(object, out);
    keep_of_env(object, out);
    keep_condition(object, out);
  }
  return out;
}

}  // namespace berth
