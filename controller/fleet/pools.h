// SPDX-License-Identifier: Apache-2.0
// Pools: which policy holds and which of its pools a node belongs to.
#pragma once

#include <cstdint>
#include <vector>

#include "controller/core/cluster_state.h"

namespace berth {

// The one policy there is, `cluster`; null if there is none or it is being deleted.
const GPUClusterPolicy* find_policy(const ClusterState& cluster);

// The same also while it is being deleted: its limits hold until it is gone.
const GPUClusterPolicy* standing_policy(const ClusterState& cluster);

// Whether more changed than the status, which berth itself writes: the policy is new, gone, edited
// or being deleted. Either of the two may be null.
bool is_edit(const GPUClusterPolicy* old, const GPUClusterPolicy* now);

// Whether it is being deleted, and everything that it has put on nodes stays there.
bool leaves_nodes_as_they_are(const GPUClusterPolicy& policy);

// Those whose selector the node's labels meet, in the spec's order. A selector that can't be read
// selects nothing; check_rules() tells of it.
std::vector<const PoolSpec*> pools_selecting(const GPUClusterPolicy& policy, const Node& node);

// The first of them, to which the node belongs; null if no pool selects it.
const PoolSpec* pool_of(const GPUClusterPolicy& policy, const Node& node);

// Whether the node may have joined a pool: it shows GPUs, or carries a pool's label or berth's
// record of one. An autoscaler's template labels a node minutes before its GPUs are discovered, and
// the labels of discovery may be gone for a while.
bool may_join_pools(const Node& node);

// The pool that the node has joined, so that berth keeps the pool's labels and taints there: the
// pool to which it belongs, if it may have joined one.
const PoolSpec* joined_pool(const GPUClusterPolicy& policy, const Node& node);

// The physical GPUs of a node of the pool. Until discovery has labelled the node, these are what it
// has of nvidia.com/gpu; where the pool shares its GPUs, that number says nothing.
std::int64_t gpus_of(const PoolSpec& pool, const Node& node);

}  // namespace berth
