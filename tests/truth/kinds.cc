// SPDX-License-Identifier: Apache-2.0
#include "tests/truth/kinds.h"

#include <fmt/format.h>

#include <stdexcept>

namespace berth::truth {
namespace {

constexpr Kind kKinds[] = {
    {"nodes", "Node", "v1", false, true},
    {"pods", "Pod", "v1", true, true},
    {"configmaps", "ConfigMap", "v1", true, false},
    {"leases", "Lease", "coordination.k8s.io/v1", true, false},
    {"poddisruptionbudgets", "PodDisruptionBudget", "policy/v1", true, true},
    {"events", "Event", "events.k8s.io/v1", true, false},
    {"miglayouts", "MIGLayout", "gpu.berth.dev/v1alpha1", false, true},
    {"gpuclusterpolicies", "GPUClusterPolicy", "gpu.berth.dev/v1alpha1", false, true},
    {"priorityclasses", "PriorityClass", "scheduling.k8s.io/v1", false, false},
    {"jobs", "Job", "batch/v1", true, true},
    {"resourcequotas", "ResourceQuota", "v1", true, true, true},
    {"secrets", "Secret", "v1", true, false, true},
    {"mutatingwebhookconfigurations", "MutatingWebhookConfiguration",
     "admissionregistration.k8s.io/v1", false, false, true},
    {"validatingwebhookconfigurations", "ValidatingWebhookConfiguration",
     "admissionregistration.k8s.io/v1", false, false, true},
};

}  // namespace

std::span<const Kind> kinds() { return kKinds; }

const Kind& kind_of(std::string_view plural) {
  for (const Kind& kind : kKinds)
    if (kind.plural == plural) return kind;
  throw std::runtime_error(fmt::format("the truth check does not know {}", plural));
}

std::string collection_path(const Kind& kind, const std::string& namespace_) {
  const char* root = kind.api_version == "v1" ? "/api" : "/apis";
  if (!kind.namespaced || namespace_.empty())
    return fmt::format("{}/{}/{}", root, kind.api_version, kind.plural);
  return fmt::format("{}/{}/namespaces/{}/{}", root, kind.api_version, namespace_, kind.plural);
}

}  // namespace berth::truth
