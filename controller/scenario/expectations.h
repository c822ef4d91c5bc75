// SPDX-License-Identifier: Apache-2.0
// Expectations: whether layouts and the policy stand as a scenario says they do at its end.
#pragma once

#include <map>
#include <string>

#include "controller/sim/store.h"

namespace berth {

// What does not hold, for people: "layout a100: Ready is False (NodeFailed: …)". Empty if all
// holds. `expect` is by a layout's name, or "gpuclusterpolicy/NAME". What has no entry of its own
// has to be Ready; a status of an older generation counts for nothing.
std::string unmet(const sim::Store& store, const std::map<std::string, std::string>& expect);

}  // namespace berth
