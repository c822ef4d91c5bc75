// SPDX-License-Identifier: Apache-2.0
// NodesToCome: what nodes may offer in a pool where no node offers a GPU now. An autoscaler may add
// nodes to an elastic pool. Nodes of another pool may be gone for a while. berth does not know what
// such nodes will be like. So a resource counts if any object of berth's names it for the pool.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "apis/kinds/gpu_cluster_policy.h"
#include "controller/core/cluster_state.h"

namespace berth {

// Whether the pool's sharing includes the resource.
bool lists(const SharingSpec& sharing, std::string_view resource);

// Adds the names that the pool's sharing gives to the resources, if it renames them.
std::set<std::string> with_shared_names(const PoolSpec& pool, std::set<std::string> resources);

// Returns the resources for which queues have a quota in the pool. `offered` is what nodes anywhere
// offer: a quota of `gpu` counts all of these.
std::set<std::string> promised_resources(const ClusterState& cluster, const PoolSpec& pool,
                                         const std::set<std::string>& offered);

// For an elastic pool, returns these and nvidia.com/gpu, the MIG resources that MIGLayouts would
// create on such a node, and the names that the pool's sharing gives to them.
std::set<std::string> resources_to_come(const ClusterState& cluster, const PoolSpec& pool,
                                        const std::set<std::string>& offered);

}  // namespace berth
