// SPDX-License-Identifier: Apache-2.0
// What namespaces hold of GPUs, for /metrics: as kube-state-metrics would tell it pod by pod, in as
// many series as there are namespaces, and no more than a few hundred.
#pragma once

#include "controller/core/cluster_state.h"
#include "controller/core/figures.h"

namespace berth {

// Those beyond the largest holders stand together under this, which no namespace can be called.
inline constexpr char kOtherNamespaces[] = "_others";
inline constexpr std::size_t kMostNamespaceSeries = 500;

Figures namespace_figures(const ClusterState& cluster);

}  // namespace berth
