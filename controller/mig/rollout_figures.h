// SPDX-License-Identifier: Apache-2.0
// RolloutFigures: what /metrics tells of MIGLayouts, of the nodes that berth has taken out of
// service, and of what is left in service.
#pragma once

#include "controller/core/cluster_state.h"
#include "controller/core/figures.h"
#include "controller/core/settings.h"

namespace berth {

Figures rollout_figures(const ClusterState& cluster, const Settings& settings);

}  // namespace berth
