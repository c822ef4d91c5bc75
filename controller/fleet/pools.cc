// SPDX-License-Identifier: Apache-2.0
#include "controller/fleet/pools.h"

namespace berth {

const GPUClusterPolicy* find_policy(const ClusterState& cluster) {
  const GPUClusterPolicy* policy = cluster.gpu_policies().find(limits::kPolicyName);
  return policy != nullptr && !policy->meta.deletion_timestamp ? policy : nullptr;
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

}  // namespace berth
