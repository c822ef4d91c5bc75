// SPDX-License-Identifier: Apache-2.0
// PoolsInReach: which pools a pod's own node selector and required affinity allow. A release can't
// be undone, so it must not send a pod where it can't run.
#pragma once

#include <vector>

#include "apis/kinds/gpu_cluster_policy.h"
#include "apis/kinds/pod_shape.h"
#include "controller/queue/facts/facts.h"

namespace berth::queue {

// Returns the labels that every node of the pool has, also one that an autoscaler may add.
StringMap labels_of_nodes(const PoolSpec& pool);
// Whether a node with these labels, and unknown others, may match the requirements.
bool may_have(const StringMap& labels, const StringMap& node_selector);
bool may_have(const StringMap& labels, const NodeSelectorTerm& term);

// Compares with the labels that every node of a pool has: the pool's own, those that its selector
// requires, and those that the policy writes. Some nodes may have any other label.
PoolNames pools_in_reach(const PodShape::Fields& shape, const std::vector<PoolSpec>& pools);

}  // namespace berth::queue
