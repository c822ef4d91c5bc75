// SPDX-License-Identifier: Apache-2.0
// Nodes with GPUs that take no pods now, or on which a rollout is under way.
#pragma once

#include <vector>

#include "controller/core/cluster_state.h"

namespace berth {

// By name.
std::vector<const Node*> nodes_out(const ClusterState& cluster);

}  // namespace berth
