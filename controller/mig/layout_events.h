// SPDX-License-Identifier: Apache-2.0
// LayoutEvents: the events of a MIGLayout: its rollout started, what blocks it, which nodes are
// updated or have failed, and its end.
#pragma once

#include <vector>

#include "controller/core/plan.h"
#include "controller/mig/rollout_choice.h"

namespace berth {

// Returns the events for the difference between the layout's current status and `next`. Nothing
// else is remembered, so a restart repeats no event. `choice` is the input of `next`.
std::vector<EventNote> layout_events(const MIGLayout& layout, const MIGLayoutStatus& next,
                                     const RolloutChoice& choice);

}  // namespace berth
