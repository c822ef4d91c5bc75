// SPDX-License-Identifier: Apache-2.0
// LayoutStatus: the status of a MIGLayout: counts, the worst nodes, and conditions as kstatus
// defines them.
#pragma once

#include "controller/core/plan.h"
#include "controller/core/snapshot.h"
#include "controller/mig/rollout_choice.h"

namespace berth {

// Returns the full desired status. `differs` says whether it differs from the current one.
StatusUpdate compute_layout_status(const Snapshot& snapshot, const MIGLayout& layout,
                                   const RolloutChoice& choice);

}  // namespace berth
