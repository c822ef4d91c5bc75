// SPDX-License-Identifier: Apache-2.0
// Pools: which policy is in effect, and which of its pools a node belongs to.
#pragma once

#include <cstdint>
#include <vector>

#include "controller/core/cluster_state.h"

namespace berth {

// Returns the only policy, `cluster`; null if it does not exist or is being deleted.
const GPUClusterPolicy* find_policy(const ClusterState& cluster);

// Does the same, but also returns a policy that is being deleted: its limits apply until it is
// gone.
const GPUClusterPolicy* standing_policy(const ClusterState& cluster);

// Whether more changed than the status, which berth itself writes: a user created, edited or
// deleted the policy. Either of the two may be null.
bool is_edit(const GPUClusterPolicy* old, const GPUClusterPolicy* now);

// Whether the policy is being deleted and everything that it has set on nodes stays.
bool leaves_nodes_as_they_are(const GPUClusterPolicy& policy);

// Returns the pools whose selector matches the node's labels, in the spec's order. A selector that
// can't be read selects nothing; check_rules() reports it.
std::vector<const PoolSpec*> pools_selecting(const GPUClusterPolicy& policy, const Node& node);

// Returns the first of these, the node's pool; null if no pool selects it.
const PoolSpec* pool_of(const GPUClusterPolicy& policy, const Node& node);

// Whether the node may have joined a pool: it shows GPUs, or carries a pool's label or berth's
// record of one. An autoscaler's template labels a node minutes before its GPUs are discovered, and
// the labels of discovery may be gone for a while.
bool may_join_pools(const Node& node);

// Returns the pool that the node has joined, so that berth keeps the pool's labels and taints
// there: the node's pool, if it may have joined one.
const PoolSpec* joined_pool(const GPUClusterPolicy& policy, const Node& node);

// Returns the physical GPUs of a node of the pool. Until discovery has labelled the node, this is
// its capacity of nvidia.com/gpu. If the pool shares its GPUs, that number says nothing, and the
// result is 0.
std::int64_t gpus_of(const PoolSpec& pool, const Node& node);

}  // namespace berth
