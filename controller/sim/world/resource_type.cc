// SPDX-License-Identifier: Apache-2.0
#include "controller/sim/world/resource_type.h"

#include <algorithm>

namespace berth::sim {
namespace {

constexpr ResourceType kTypes[] = {
    {"", "v1", "configmaps", "ConfigMap", true, false, false},
    {"", "v1", "namespaces", "Namespace", false, true, false},
    {"", "v1", "nodes", "Node", false, true, false},
    {"", "v1", "pods", "Pod", true, true, true},
    {"", "v1", "resourcequotas", "ResourceQuota", true, true, false},
    {"", "v1", "secrets", "Secret", true, false, false},
    {"admissionregistration.k8s.io", "v1", "mutatingwebhookconfigurations",
     "MutatingWebhookConfiguration", false, false, true},
    {"admissionregistration.k8s.io", "v1", "validatingwebhookconfigurations",
     "ValidatingWebhookConfiguration", false, false, true},
    {"apps", "v1", "daemonsets", "DaemonSet", true, true, true},
    {"apps", "v1", "replicasets", "ReplicaSet", true, true, true},
    {"batch", "v1", "jobs", "Job", true, true, true},
    {"coordination.k8s.io", "v1", "leases", "Lease", true, false, false},
    {"events.k8s.io", "v1", "events", "Event", true, false, false},
    {"gpu.berth.dev", "v1alpha1", "gpuclusterpolicies", "GPUClusterPolicy", false, true, true},
    {"gpu.berth.dev", "v1alpha1", "gpuqueues", "GPUQueue", false, true, true},
    {"gpu.berth.dev", "v1alpha1", "miglayouts", "MIGLayout", false, true, true},
    {"kubeflow.org", "v1", "tfjobs", "TFJob", true, true, true},
    {"policy", "v1", "poddisruptionbudgets", "PodDisruptionBudget", true, true, true},
    {"scheduling.k8s.io", "v1", "priorityclasses", "PriorityClass", false, false, false},
};

}  // namespace

std::string ResourceType::api_version() const {
  return group.empty() ? std::string(version) : std::string(group) + "/" + std::string(version);
}

std::span<const ResourceType> resource_types() { return kTypes; }

const ResourceType* find_resource_type(std::string_view plural) {
  const auto found = std::ranges::find(kTypes, plural, &ResourceType::plural);
  return found == std::end(kTypes) ? nullptr : &*found;
}

const ResourceType* find_resource_type(std::string_view group, std::string_view version,
                                       std::string_view plural) {
  const ResourceType* type = find_resource_type(plural);
  return type != nullptr && type->group == group && type->version == version ? type : nullptr;
}

}  // namespace berth::sim
