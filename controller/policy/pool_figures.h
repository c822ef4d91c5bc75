// SPDX-License-Identifier: Apache-2.0
// PoolFigures: the metrics of the GPUClusterPolicy and its pools.
#pragma once

#include "controller/core/cluster_state.h"
#include "controller/core/figures.h"

namespace berth {

Figures pool_figures(const ClusterState& cluster);

}  // namespace berth
