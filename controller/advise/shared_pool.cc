// SPDX-License-Identifier: Apache-2.0
#include "controller/advise/shared_pool.h"

#include <algorithm>

namespace berth::advise {
namespace {

bool shares_whole_gpus(const SharingSpec& sharing) {
  return sharing.strategy != SharingStrategy::kNone && sharing.replicas > 1 &&
         (sharing.resources.empty() ||
          std::ranges::find(sharing.resources, kGpuResource) != sharing.resources.end());
}

}  // namespace

const PoolSpec* smallest_shared_pool(const Snapshot& snapshot, const GPUClusterPolicy& policy,
                                     std::string_view namespace_, std::int64_t percent) {
  const Namespace* found = snapshot.cluster.namespaces().find(namespace_);
  const PoolSpec* best = nullptr;
  for (const PoolSpec& pool : policy.spec.pools) {
    if (!shares_whole_gpus(pool.sharing) || percent * pool.sharing.replicas > 100) continue;
    if (pool.eligible_namespaces &&
        (found == nullptr || !pool.eligible_namespaces->matches(found->meta.labels)))
      continue;
    if (best == nullptr || pool.sharing.replicas > best->sharing.replicas) best = &pool;
  }
  return best;
}

}  // namespace berth::advise
