// SPDX-License-Identifier: Apache-2.0
// DeadNodes: pods that a queue admitted and that can't leave, as their node is not ready. Nobody
// ends a pod there: it terminates until the node comes back or is deleted. berth marks such a pod
// as lost. A lost pod holds no quota, no workload waits for it, and its Job may replace it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "controller/core/cluster_state.h"

namespace berth::queue {

// Since when berth takes the pod for lost, by its mark. Absent: it does not.
std::optional<Time> lost_since(const berth::Pod& pod);

// Whether reconcile_dead_node has something to look at: the pod terminates, and a queue admitted
// it.
bool may_be_lost(const berth::Pod& pod);

// "pod train-1 can't leave node gpu-1, which is not ready", and what a person can do about it.
std::string describe_lost(std::string_view pod, std::string_view node);

// Nodes that are not ready, or that have lost pods.
std::vector<std::string> dead_nodes(const ClusterState& cluster);

}  // namespace berth::queue
