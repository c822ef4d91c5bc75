// SPDX-License-Identifier: Apache-2.0
#include "controller/sim/server/field_schema.h"

#include <algorithm>
#include <iterator>

#include "controller/sim/server/writes.h"

namespace berth::sim {
namespace {

struct Entry {
  std::string_view kind;  // empty: any
  std::string_view path;
  ListRule::Kind rule;
  std::string_view key;
  std::string_view second_key;
};

constexpr auto kSet = ListRule::Kind::kSet;
constexpr auto kMap = ListRule::Kind::kMap;

// All other lists are atomic.
constexpr Entry kLists[] = {
    {"", "metadata.finalizers", kSet, "", ""},
    {"", "metadata.ownerReferences", kMap, "uid", ""},
    {"Pod", "spec.containers", kMap, "name", ""},
    {"Pod", "spec.initContainers", kMap, "name", ""},
    {"Pod", "spec.ephemeralContainers", kMap, "name", ""},
    {"Pod", "spec.containers[].ports", kMap, "containerPort", "protocol"},
    {"Pod", "spec.containers[].env", kMap, "name", ""},
    {"Pod", "spec.containers[].volumeMounts", kMap, "mountPath", ""},
    {"Pod", "spec.initContainers[].env", kMap, "name", ""},
    {"Pod", "spec.initContainers[].volumeMounts", kMap, "mountPath", ""},
    {"Pod", "spec.volumes", kMap, "name", ""},
    {"Pod", "spec.imagePullSecrets", kMap, "name", ""},
    {"Pod", "spec.hostAliases", kMap, "ip", ""},
    {"Pod", "spec.topologySpreadConstraints", kMap, "topologyKey", "whenUnsatisfiable"},
    {"Pod", "spec.schedulingGates", kMap, "name", ""},
    {"Pod", "spec.resourceClaims", kMap, "name", ""},
    {"Pod", "status.conditions", kMap, "type", ""},
    {"Pod", "status.podIPs", kMap, "ip", ""},
    {"Node", "spec.podCIDRs", kSet, "", ""},
    {"Node", "status.conditions", kMap, "type", ""},
    {"Node", "status.addresses", kMap, "type", ""},
    {"Namespace", "status.conditions", kMap, "type", ""},
    {"DaemonSet", "status.conditions", kMap, "type", ""},
    {"ReplicaSet", "status.conditions", kMap, "type", ""},
    {"PodDisruptionBudget", "status.conditions", kMap, "type", ""},
    {"MutatingWebhookConfiguration", "webhooks", kMap, "name", ""},
    {"MutatingWebhookConfiguration", "webhooks[].matchConditions", kMap, "name", ""},
    {"ValidatingWebhookConfiguration", "webhooks", kMap, "name", ""},
    {"ValidatingWebhookConfiguration", "webhooks[].matchConditions", kMap, "name", ""},
    {"MIGLayout", "spec.productSelector", kSet, "", ""},
    {"MIGLayout", "spec.capacityGuard.retire", kSet, "", ""},
    {"MIGLayout", "status.conditions", kMap, "type", ""},
    {"GPUClusterPolicy", "spec.pools", kMap, "name", ""},
    {"GPUClusterPolicy", "spec.pools[].taints", kMap, "key", "effect"},
    {"GPUClusterPolicy", "spec.pools[].sharing.resources", kSet, "", ""},
    {"GPUClusterPolicy", "spec.resourceCatalog", kMap, "name", ""},
    {"GPUClusterPolicy", "spec.priorityClasses", kMap, "name", ""},
    {"GPUClusterPolicy", "status.pools", kMap, "name", ""},
    {"GPUClusterPolicy", "status.conditions", kMap, "type", ""},
    {"GPUQueue", "spec.quotas", kMap, "resource", "pool"},
    {"GPUQueue", "status.usage", kMap, "resource", "pool"},
    {"GPUQueue", "status.pendingReasons", kMap, "reason", ""},
    {"GPUQueue", "status.conditions", kMap, "type", ""},
};

// By the last member, which is unambiguous for the kinds here.
constexpr std::string_view kAtomicMaps[] = {
    "selector",          "labelSelector",     "podSelector",
    "namespaceSelector", "regarding",         "related",
    "fieldRef",          "secretKeyRef",      "configMapKeyRef",
    "resourceFieldRef",  "claimRef",          "requiredDuringSchedulingIgnoredDuringExecution",
    "nodeSelector",      "ownerReferences[]", "eligibleNamespaces",
    "excludeSelector",   "objectSelector"};

}  // namespace

FieldSchema FieldSchema::member(const std::string& name) const {
  FieldSchema below = *this;
  if (below.path_ == "spec" && name == "template" && !is_custom(*type_)) {
    static const ResourceType& kPod = *find_resource_type("pods");
    return FieldSchema(kPod);
  }
  below.path_ += below.path_.empty() ? name : "." + name;
  return below;
}

FieldSchema FieldSchema::item() const {
  FieldSchema below = *this;
  below.path_ += "[]";
  return below;
}

ListRule FieldSchema::list() const {
  for (const Entry& entry : kLists) {
    if (entry.path != path_ || (!entry.kind.empty() && entry.kind != type_->kind)) continue;
    ListRule rule{entry.rule, {}};
    if (!entry.key.empty()) rule.keys.push_back(entry.key);
    if (!entry.second_key.empty()) rule.keys.push_back(entry.second_key);
    return rule;
  }
  return {};
}

bool FieldSchema::is_atomic_map() const {
  const std::string_view last = std::string_view(path_).substr(path_.rfind('.') + 1);
  return std::ranges::find(kAtomicMaps, last) != std::end(kAtomicMaps);
}

}  // namespace berth::sim
