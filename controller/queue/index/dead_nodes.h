// SPDX-License-Identifier: Apache-2.0
// DeadNodes: admitted pods that can't leave, as their node is not ready. No kubelet ends such a
// pod: it terminates until the node comes back or is deleted. berth marks the pod as lost. A lost
// pod holds no quota, no workload waits for it, and its Job may replace it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "controller/core/cluster_state.h"

namespace berth::queue {

// Returns since when berth counts the pod as lost, by its mark; nothing if it does not.
std::optional<Time> lost_since(const berth::Pod& pod);

// Whether reconcile_dead_node has to look at the pod: it terminates, it is on a node, and a queue
// admitted it.
bool may_be_lost(const berth::Pod& pod);

// Returns the queue that admitted the pod; nullptr if the pod has no record or the queue is gone.
const GPUQueue* admitting_queue(const ClusterState& cluster, const berth::Pod& pod);

// Whether the pod's owner allows that it is deleted by force.
bool is_safe_to_force_delete(const berth::Pod& pod);

// Returns "pod train-1 can't leave node gpu-1, which is not ready; …" and what an administrator can
// do.
std::string describe_lost(std::string_view pod, std::string_view node);

// Returns nodes that are not ready or have lost pods.
std::vector<std::string> dead_nodes(const ClusterState& cluster);

}  // namespace berth::queue
