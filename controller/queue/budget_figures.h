// SPDX-License-Identifier: Apache-2.0
// BudgetFigures: what /metrics tells of the budgets of GPUQueues.
#pragma once

#include "controller/core/cluster_state.h"
#include "controller/core/figures.h"
#include "controller/core/settings.h"

namespace berth {

// Nothing while no queue has a budget of which anything was written down.
Figures budget_figures(const ClusterState& cluster, const Settings& settings);

}  // namespace berth
