// SPDX-License-Identifier: Apache-2.0
#include "controller/preview/dump_fields.h"

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "apis/decode.h"

namespace berth {
namespace {

using nlohmann::json;
using Paths = std::vector<std::string_view>;

// "a.b[].c": the field c of each item of list b in object a; a last segment is kept whole.
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

const std::map<std::string_view, Paths> kFields = {
    {"Node",
     {"spec.unschedulable", "spec.taints", "status.capacity", "status.allocatable",
      "status.conditions[].type", "status.conditions[].status", "status.nodeInfo.bootID"}},
    {"Pod",
     {"spec.nodeName", "spec.nodeSelector", "spec.tolerations", "spec.priority",
      "spec.terminationGracePeriodSeconds", "spec.schedulerName", "spec.schedulingGates",
      "spec.overhead", "spec.resources.requests", "spec.resourceClaims[].name",
      "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution",
      "spec.containers[].resources.requests", "spec.initContainers[].resources.requests",
      "spec.initContainers[].restartPolicy", "spec.volumes[].emptyDir", "status.phase",
      "status.startTime"}},
    {"PodDisruptionBudget",
     {"spec.selector", "status.disruptionsAllowed", "status.currentHealthy",
      "status.desiredHealthy", "status.expectedPods", "status.observedGeneration"}},
    {"Job",
     {"spec.suspend", "spec.backoffLimit", "spec.parallelism", "spec.podFailurePolicy",
      "status.failed"}},
    {"ConfigMap", {"data"}},
    {"DaemonSet",
     {"spec.template.spec.volumes[].configMap.name", "spec.template.spec.nodeSelector",
      "spec.template.spec.tolerations"}},
    {"ClusterPolicy",
     {"spec.mig.strategy", "spec.migManager.config.name", "spec.devicePlugin.config",
      "spec.daemonsets.tolerations"}},
    {"MIGLayout", {"spec", "status"}},
    {"GPUClusterPolicy", {"spec", "status"}},
    {"Namespace", {}},
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
  // A value of another type than the path expects is kept as it is: reading it back names it.
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

// kubectl's last-applied-configuration holds the whole object, environment and all.
void keep_annotations(const json& from, json& to) {
  auto metadata = from.find("metadata");
  if (metadata == from.end() || !metadata->is_object()) return;
  auto annotations = metadata->find("annotations");
  if (annotations == metadata->end() || !annotations->is_object()) return;
  for (const auto& [key, value] : annotations->items())
    if (keeps_annotation(key)) to["metadata"]["annotations"][key] = value;
}

}  // namespace

json trimmed(const json& object, std::string_view kind) {
  auto fields = kFields.find(kind);
  if (fields == kFields.end() || !object.is_object()) return nullptr;
  json out = json::object();
  for (std::string_view path : kMetadata) keep(object, out, path);
  keep_annotations(object, out);
  for (std::string_view path : fields->second) keep(object, out, path);
  return out;
}

}  // namespace berth
