// SPDX-License-Identifier: Apache-2.0
// Stillness: what must stand once the faults are over and berth has come to rest.
#pragma once

#include <string>

#include "controller/scenario/scenario_run.h"
#include "tests/explore/truth.h"

namespace berth::explore {

// Why it may not stay so, or nothing: a node that is kept without a reason, a cordon of berth's
// that nobody owns, a slot that is not needed, a layout that says Ready where the GPUs are cut
// otherwise, or that says nothing.
std::string unstill(const Truth& truth, ScenarioRun& run);

}  // namespace berth::explore
