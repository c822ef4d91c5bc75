// SPDX-License-Identifier: Apache-2.0
// Refusals: steps that remain at the end of a projection, why, and the line that would change it.
#pragma once

#include <string>
#include <vector>

#include "controller/core/snapshot.h"
#include "controller/mig/rollout_choice.h"
#include "controller/preview/projection.h"

namespace berth {

// The text for the layout's spec that removes the standing's reason for the node; empty if no line
// helps.
std::string line_for(const Snapshot& snapshot, const MIGLayout& layout,
                     const NodeStanding& standing);

// Nodes of one layout with the same reason and message share an entry. Also reports layouts that
// are only in the cluster, because they affect the plan.
std::vector<Refusal> refusals(const Snapshot& snapshot, const std::vector<LayoutSummary>& layouts);

}  // namespace berth
