// SPDX-License-Identifier: Apache-2.0
// Which pools a pod's own node selector and required affinity leave it. A release is final: it must
// not send a pod where it can't go.
#pragma once

#include <vector>

#include "apis/gpu_cluster_policy.h"
#include "apis/pod_shape.h"
#include "controller/queue/facts.h"

namespace berth::queue {

// The labels that every node of the pool has, also one that an autoscaler is yet to add.
StringMap labels_of_nodes(const PoolSpec& pool);
// By these alone, whether a node of the pool may have what is asked for.
bool may_have(const StringMap& labels, const StringMap& node_selector);
bool may_have(const StringMap& labels, const NodeSelectorTerm& term);

// Told by the labels that every node of a pool has: its own, those its selector demands and those
// the policy writes. Whatever else is asked for some of its nodes may have.
PoolNames pools_in_reach(const PodShape::Fields& shape, const std::vector<PoolSpec>& pools);

}  // namespace berth::queue
