// SPDX-License-Identifier: Apache-2.0
// NodesToCome: what the nodes of a pool may offer in which no node offers a GPU now. An autoscaler
// may add nodes to an elastic pool; those of another pool may only be gone for a while. What they
// will be like is not known. So a resource counts where anything of berth's names it for the pool.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "apis/gpu_cluster_policy.h"
#include "controller/core/cluster_state.h"

namespace berth {

// Whether the pool's sharing is of the resource.
bool lists(const SharingSpec& sharing, std::string_view resource);

// With the names that the pool's sharing gives to them, if it renames.
std::set<std::string> with_shared_names(const PoolSpec& pool, std::set<std::string> resources);

// What queues have a quota of in the pool. `offered` is what nodes anywhere offer: a quota of `gpu`
// is one of all these.
std::set<std::string> promised_resources(const ClusterState& cluster, const PoolSpec& pool,
                                         const std::set<std::string>& offered);

// With these, of an elastic pool: nvidia.com/gpu and what MIGLayouts make of such a node, and the
// names that the pool's sharing gives to them.
std::set<std::string> resources_to_come(const ClusterState& cluster, const PoolSpec& pool,
                                        const std::set<std::string>& offered);

}  // namespace berth
