// SPDX-License-Identifier: Apache-2.0
// QueueFigures: the metrics of the GPUQueues. Their meanings are those of Kueue's metrics.
#pragma once

#include "controller/core/cluster_state.h"
#include "controller/core/figures.h"

namespace berth::queue {

// Returns nothing if there is no queue.
Figures queue_figures(const ClusterState& cluster);

}  // namespace berth::queue
