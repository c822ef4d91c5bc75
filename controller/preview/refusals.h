// SPDX-License-Identifier: Apache-2.0
// Refusals: what stays undone at the end of a projection, why, and the line that would change it.
#pragma once

#include <string>
#include <vector>

#include "controller/core/snapshot.h"
#include "controller/mig/rollout_choice.h"
#include "controller/preview/projection.h"

namespace berth {

// What to write into the layout's spec so that the node is not refused for the standing's reason;
// empty if no line would do.
std::string line_for(const Snapshot& snapshot, const MIGLayout& layout,
                     const NodeStanding& standing);

// Nodes of one layout with the same reason and message share an entry. Layouts that were only found
// in the cluster are told too: they take part.
std::vector<Refusal> refusals(const Snapshot& snapshot, const std::vector<LayoutSummary>& layouts);

}  // namespace berth
