// SPDX-License-Identifier: Apache-2.0
// QueueFigures: what /metrics tells of the GPUQueues, with the meanings that Kueue's metrics have.
#pragma once

#include "controller/core/cluster_state.h"
#include "controller/core/figures.h"

namespace berth {

// Nothing while there is no queue.
Figures queue_figures(const ClusterState& cluster);

}  // namespace berth
