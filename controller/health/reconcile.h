// SPDX-License-Identifier: Apache-2.0
// What berth does about GPUs that break: a pure function from a snapshot to a plan. A plan that has
// been applied and is planned again is empty.
#pragma once

#include <string_view>

#include "controller/core/plan.h"
#include "controller/core/snapshot.h"

namespace berth {

inline constexpr std::string_view kHealthKey = "health";

// "health": each node of the policy's pools whose GPUs show a fault is told of, cordoned, drained,
// and put back when nothing has been found for long enough, as spec.health says, and its proof has
// passed where the settings want one.
Plan reconcile_health(const Snapshot& snapshot);

}  // namespace berth
