// SPDX-License-Identifier: Apache-2.0
// Stillness: what must be true once the faults are over and berth is at rest.
#pragma once

#include <string>

#include "controller/scenario/scenario_run.h"
#include "tests/explore/truth.h"

namespace berth::explore {

// Why the state is wrong, or empty: a node that is kept without a reason, a cordon of berth without
// an owner, an unneeded slot, a layout that is Ready although the GPUs are partitioned otherwise,
// or a layout that reports nothing.
std::string unstill(const Truth& truth, ScenarioRun& run);

}  // namespace berth::explore
