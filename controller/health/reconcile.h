// SPDX-License-Identifier: Apache-2.0
// The health reconciler: a pure function from a snapshot to a plan. After a plan is applied, the
// next plan is empty.
#pragma once

#include <string_view>

#include "controller/core/plan.h"
#include "controller/core/snapshot.h"

namespace berth {

inline constexpr std::string_view kHealthKey = "health";

// "health": reports each node of the policy's pools whose GPUs show a fault, cordons it and drains
// it, as spec.health says. It uncordons the node when it has found nothing for long enough and, if
// the settings require one, the validation Job has passed.
Plan reconcile_health(const Snapshot& snapshot);

}  // namespace berth
