// SPDX-License-Identifier: Apache-2.0
// LayoutEvents: what people who describe a MIGLayout are told as it comes about: that its rollout
// started, what blocks it, which nodes are done or have failed, and its end.
#pragma once

#include <vector>

#include "controller/core/plan.h"
#include "controller/mig/rollout_choice.h"

namespace berth {

// The difference between the status that stands in the cluster, the layout's own, and the next one:
// nothing else is remembered, so that a restart tells nothing twice. `choice` is what the next one
// was made from.
std::vector<EventNote> layout_events(const MIGLayout& layout, const MIGLayoutStatus& next,
                                     const RolloutChoice& choice);

}  // namespace berth
