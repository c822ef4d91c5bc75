// SPDX-License-Identifier: Apache-2.0
// NamespaceFigures: the metric of the GPUs that namespaces hold. kube-state-metrics would report
// them pod by pod. This has one series per namespace and resource, and at most a few hundred.
#pragma once

#include "controller/core/cluster_state.h"
#include "controller/core/figures.h"

namespace berth {

// The label of all namespaces beyond the largest holders. No namespace can have this name.
inline constexpr char kOtherNamespaces[] = "_others";
inline constexpr std::size_t kMostNamespaceSeries = 500;

Figures namespace_figures(const ClusterState& cluster);

}  // namespace berth
