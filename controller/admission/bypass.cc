// SPDX-License-Identifier: Apache-2.0
#include "controller/admission/bypass.h"

#include <fmt/format.h>

#include <algorithm>

#include "apis/base/names.h"
#include "controller/admission/managed_namespaces.h"
#include "controller/admission/pool_choice.h"
#include "controller/admission/review_findings.h"
#include "controller/fleet/pools.h"

namespace berth {
namespace {

// The mirror pod of a static pod: its node owns it. No kubelet runs a copy that another client
// wrote.
bool is_mirror(const Pod& pod, const ClusterState& cluster) {
  if (!pod.meta.annotations.contains(names::kMirrorAnnotation)) return false;
  const OwnerReference* owner = pod.meta.controller();
  const Node* node = cluster.nodes().find(pod.node_name.view());
  return node != nullptr && owner != nullptr && owner->kind == "Node" &&
         owner->api_version == "v1" && owner->uid == std::string_view(node->meta.uid);
}

bool lacks_affinity(const PoolChoice& choice, const Placement& placement) {
  if (choice.targets.empty()) return false;
  if (placement.terms.empty()) return !holds_to(choice, placement, nullptr);
  return std::ranges::any_of(placement.terms, [&](const NodeSelectorTerm* term) {
    return !(term->match_expressions.empty() && term->match_fields.empty()) &&
           !holds_to(choice, placement, term);
  });
}

bool lacks_repair(const Pod& pod, const GPUClusterPolicy& policy, const ClusterState& cluster) {
  if (pod.meta.annotations.contains(names::kMutationsAnnotation)) return false;
  const StringMap& labels = cluster.namespaces().find(pod.meta.namespace_.view())->meta.labels;
  const Placement placement = placement_of(pod);
  const PoolChoice choice = choose_pools(placement, policy, offers_of(cluster), labels);
  const AdmissionDefaults& defaults = policy.spec.admission.defaults;
  return (defaults.tolerations && !untolerated(choice, pod.shape->tolerations).empty()) ||
         (defaults.pool_affinity && lacks_affinity(choice, placement));
}

}  // namespace

const PoolSpec* closed_pool_of(const Pod& pod, const ClusterState& cluster) {
  const GPUClusterPolicy* policy = find_policy(cluster);
  if (policy == nullptr || pod.node_name.empty() || !uses_gpu(pod)) return nullptr;
  const Node* node = cluster.nodes().find(pod.node_name.view());
  const Namespace* namespace_ = cluster.namespaces().find(pod.meta.namespace_.view());
  if (node == nullptr || namespace_ == nullptr) return nullptr;
  const PoolSpec* pool = pool_of(*policy, *node);
  const bool open = pool == nullptr || open_to(pool->eligible_namespaces, namespace_->meta.labels);
  return open ? nullptr : pool;
}

std::optional<std::string> slipped_past(const Pod& pod, const ClusterState& cluster,
                                        const Settings& settings) {
  const GPUClusterPolicy* policy = find_policy(cluster);
  if (policy == nullptr || policy->spec.admission.enforcement == Enforcement::kOff)
    return std::nullopt;
  if (!uses_gpu(pod) || pod.meta.creation_timestamp < policy->meta.creation_timestamp ||
      is_mirror(pod, cluster) ||
      judge_namespace(pod.meta.namespace_.view(), *policy, cluster, settings) !=
          NamespaceStanding::kManaged)
    return std::nullopt;
  const PoolSpec* closed = closed_pool_of(pod, cluster);
  if (closed != nullptr && policy->spec.admission.enforcement == Enforcement::kEnforce)
    return fmt::format(
        "it is in pool {}, which is only for namespaces with {}: berth's webhook did not review "
        "it, or the policy or the labels of its namespace or node changed later; delete it",
        closed->name, shorten(format(*closed->eligible_namespaces), 80));
  if (!lacks_repair(pod, *policy, cluster)) return std::nullopt;
  return "berth's webhook did not review it, or the policy changed later, and it lacks the "
         "toleration or the affinity that its pool needs; delete it and create it again";
}

}  // namespace berth
