// SPDX-License-Identifier: Apache-2.0
#include "controller/fleet/pools.h"

#include <algorithm>

#include "apis/base/names.h"
#include "controller/fleet/node_facts.h"

namespace berth {

const GPUClusterPolicy* find_policy(const ClusterState& cluster) {
  const GPUClusterPolicy* policy = standing_policy(cluster);
  return policy != nullptr && !policy->meta.deletion_timestamp ? policy : nullptr;
}

const GPUClusterPolicy* standing_policy(const ClusterState& cluster) {
  return cluster.gpu_policies().find(limits::kPolicyName);
}

bool is_edit(const GPUClusterPolicy* old, const GPUClusterPolicy* now) {
  return old == nullptr || now == nullptr || old->meta != now->meta || old->spec != now->spec;
}

bool leaves_nodes_as_they_are(const GPUClusterPolicy& policy) {
  return policy.meta.deletion_timestamp && policy.spec.deletion_policy == PolicyDeletion::kRetain;
}

std::vector<const PoolSpec*> pools_selecting(const GPUClusterPolicy& policy, const Node& node) {
  std::vector<const PoolSpec*> selecting;
  for (const PoolSpec& pool : policy.spec.pools)
    if (pool.node_selector.matches(node.meta.labels)) selecting.push_back(&pool);
  return selecting;
}

const PoolSpec* pool_of(const GPUClusterPolicy& policy, const Node& node) {
  for (const PoolSpec& pool : policy.spec.pools)
    if (pool.node_selector.matches(node.meta.labels)) return &pool;
  return nullptr;
}

bool may_join_pools(const Node& node) {
  return has_gpus(node) || offers_gpus(node) || node.meta.labels.contains(names::kPoolLabel) ||
         node.meta.annotations.contains(names::kPoolKeysAnnotation);
}

const PoolSpec* joined_pool(const GPUClusterPolicy& policy, const Node& node) {
  return may_join_pools(node) ? pool_of(policy, node) : nullptr;
}

std::int64_t gpus_of(const PoolSpec& pool, const Node& node) {
  if (const std::optional<Inventory> inventory = inventory_of(node)) return inventory->count;
  const bool discovered = !label_of(node, names::kGpuProduct).empty();
  if (discovered || pool.sharing.strategy != SharingStrategy::kNone) return 0;
  const Quantity* whole = node.capacity.find(kGpuResource);
  return whole == nullptr ? 0 : std::clamp<std::int64_t>(whole->rounded_up(), 0, kMaxGpusOfNode);
}

}  // namespace berth
