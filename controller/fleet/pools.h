// SPDX-License-Identifier: Apache-2.0
// Pools: which policy holds and which of its pools a node belongs to.
#pragma once

#include <vector>

#include "controller/core/cluster_state.h"

namespace berth {

// The one policy there is, `cluster`; null if there is none or it is being deleted.
const GPUClusterPolicy* find_policy(const ClusterState& cluster);

// Those whose selector the node's labels meet, in the spec's order. A selector that can't be read
// selects nothing; check_rules() tells of it.
std::vector<const PoolSpec*> pools_selecting(const GPUClusterPolicy& policy, const Node& node);

// The first of them, to which the node belongs; null if no pool selects it.
const PoolSpec* pool_of(const GPUClusterPolicy& policy, const Node& node);

}  // namespace berth
