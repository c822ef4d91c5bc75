// SPDX-License-Identifier: Apache-2.0
#include "controller/admission/managed_namespaces.h"

#include <algorithm>

#include "apis/base/names.h"

namespace berth {
namespace {

bool is_selected(const Namespace& namespace_, const AdmissionSpec& admission) {
  const StringMap& labels = namespace_.meta.labels;
  if (admission.namespace_selector) return admission.namespace_selector->matches(labels);
  return labels.get(names::kManagedLabel) == "true";
}

}  // namespace

bool is_systems_own(std::string_view name, const Settings& settings) {
  return std::ranges::find(names::kSystemNamespaces, name) != std::end(names::kSystemNamespaces) ||
         name == settings.berth_namespace || name == settings.agents_namespace;
}

NamespaceStanding judge_namespace(std::string_view name, const GPUClusterPolicy& policy,
                                  const ClusterState& cluster, const Settings& settings) {
  if (is_systems_own(name, settings) || name == policy.spec.agents.namespace_)
    return NamespaceStanding::kLeftAlone;
  const Namespace* namespace_ = cluster.namespaces().find(name);
  if (namespace_ == nullptr) return NamespaceStanding::kUnknown;
  return is_selected(*namespace_, policy.spec.admission) ? NamespaceStanding::kManaged
                                                         : NamespaceStanding::kLeftAlone;
}

}  // namespace berth
