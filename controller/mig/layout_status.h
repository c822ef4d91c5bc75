// SPDX-License-Identifier: Apache-2.0
// LayoutStatus: what a MIGLayout tells of itself: counts, the worst nodes, and conditions after
// kstatus.
#pragma once

#include "controller/core/plan.h"
#include "controller/core/snapshot.h"
#include "controller/mig/rollout_choice.h"

namespace berth {

// The full desired status; `differs` from the one that stands is worked out here.
StatusUpdate compute_layout_status(const Snapshot& snapshot, const MIGLayout& layout,
                                   const RolloutChoice& choice);

}  // namespace berth
