// SPDX-License-Identifier: Apache-2.0
#include "controller/admission/bypass.h"

#include <algorithm>

#include "apis/names.h"
#include "controller/admission/managed_namespaces.h"
#include "controller/admission/pool_choice.h"
#include "controller/core/pools.h"

namespace berth {
namespace {

bool belongs_to_node(const Pod& pod) {
  const OwnerReference* owner = pod.meta.controller();
  return pod.meta.annotations.contains(names::kMirrorAnnotation) ||
         (owner != nullptr && owner->kind == "Node");
}

bool lacks_affinity(const PoolChoice& choice, const Placement& placement) {
  if (choice.targets.empty()) return false;
  if (placement.terms.empty()) return !holds_to(choice, placement, nullptr);
  return std::ranges::any_of(placement.terms, [&](const NodeSelectorTerm* term) {
    return !(term->match_expressions.empty() && term->match_fields.empty()) &&
           !holds_to(choice, placement, term);
  });
}

}  // namespace

bool slipped_past(const Pod& pod, const ClusterState& cluster, const Settings& settings) {
  const GPUClusterPolicy* policy = find_policy(cluster);
  if (policy == nullptr || policy->spec.admission.enforcement == Enforcement::kOff) return false;
  if (!uses_gpu(pod) || pod.meta.annotations.contains(names::kMutationsAnnotation) ||
      pod.meta.creation_timestamp < policy->meta.creation_timestamp || belongs_to_node(pod))
    return false;
  const std::string_view name = pod.meta.namespace_.view();
  if (judge_namespace(name, *policy, cluster, settings) != NamespaceStanding::kManaged)
    return false;
  const StringMap& labels = cluster.namespaces().find(name)->meta.labels;
  const Placement placement = placement_of(pod);
  const PoolChoice choice = choose_pools(placement, *policy, offers_of(cluster), labels);
  const AdmissionDefaults& defaults = policy->spec.admission.defaults;
  return (defaults.tolerations && !untolerated(choice, pod.tolerations).empty()) ||
         (defaults.pool_affinity && lacks_affinity(choice, placement));
}

}  // namespace berth
