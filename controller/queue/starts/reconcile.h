// SPDX-License-Identifier: Apache-2.0
// The reconciler of estimated starts: a pure function from a snapshot to a plan.
#pragma once

#include <string_view>

#include "controller/core/plan.h"
#include "controller/core/snapshot.h"

namespace berth {

// Writes expected start times into the queues' statuses, once a minute (start_teller.h). This
// function starts a new round of plays, and reports only if one turn is enough for it.
inline constexpr std::string_view kEstimatesKey = "estimates";

}  // namespace berth
