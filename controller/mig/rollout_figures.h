// SPDX-License-Identifier: Apache-2.0
// RolloutFigures: the metrics of MIGLayouts, of nodes that berth has taken out of service, and of
// capacity in service.
#pragma once

#include "controller/core/cluster_state.h"
#include "controller/core/figures.h"
#include "controller/core/settings.h"

namespace berth {

Figures rollout_figures(const ClusterState& cluster, const Settings& settings);

}  // namespace berth
