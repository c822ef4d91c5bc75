// SPDX-License-Identifier: Apache-2.0
#include "controller/health/health_keys.h"

#include "apis/base/names.h"
#include "controller/fleet/node_facts.h"
#include "controller/fleet/pools.h"
#include "controller/health/reconcile.h"

namespace berth {
namespace {

std::vector<std::string> due_if(bool due) {
  return due ? std::vector{std::string(kHealthKey)} : std::vector<std::string>();
}

bool same_for_health(const Node& a, const Node& b) {
  return a.meta.uid == b.meta.uid && a.meta.labels == b.meta.labels && a.taints == b.taints &&
         a.meta.annotations == b.meta.annotations && a.capacity == b.capacity &&
         a.allocatable == b.allocatable && a.ready == b.ready &&
         a.unschedulable == b.unschedulable && a.gpu_conditions == b.gpu_conditions;
}

}  // namespace

// Without a policy, the node may still have berth's cordon.
std::vector<std::string> health_keys_for(const ClusterState& cluster, const Settings&,
                                         const Node* old, const Node* now) {
  if (now == nullptr || (old != nullptr && same_for_health(*old, *now))) return {};
  const bool in_pools = may_join_pools(*now) || (old != nullptr && may_join_pools(*old));
  const bool watched =
      cluster.gpu_policies().size() > 0 || now->meta.annotations.contains(names::kHealthAnnotation);
  return due_if(in_pools && watched);
}

// Only validation Jobs count.
std::vector<std::string> health_keys_for(const ClusterState&, const Settings& settings,
                                         const Job* old, const Job* now) {
  const ObjectMeta& either = now != nullptr ? now->meta : old->meta;
  return due_if(either.namespace_ == std::string_view(settings.berth_namespace) &&
                either.labels.contains(names::kProofLabel));
}

}  // namespace berth
