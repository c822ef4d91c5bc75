// SPDX-License-Identifier: Apache-2.0
// BudgetFigures: the metrics of the GPUQueues' budgets.
#pragma once

#include "controller/core/cluster_state.h"
#include "controller/core/figures.h"
#include "controller/core/settings.h"

namespace berth::queue {

// Returns nothing if no queue has a budget with recorded usage.
Figures budget_figures(const ClusterState& cluster, const Settings& settings);

}  // namespace berth::queue
