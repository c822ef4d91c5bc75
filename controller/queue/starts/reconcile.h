// SPDX-License-Identifier: Apache-2.0
// The reconciler of estimated starts: a pure function from a snapshot to a plan.
#pragma once

#include <string_view>

#include "controller/core/plan.h"
#include "controller/core/snapshot.h"

namespace berth {

// From when to when it begins, in the same status: once a minute, of what has waited for one
// (start_teller.h).
inline constexpr std::string_view kEstimatesKey = "estimates";

}  // namespace berth
