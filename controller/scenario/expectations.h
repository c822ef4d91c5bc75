// SPDX-License-Identifier: Apache-2.0
// Expectations: whether layouts stand as a scenario says they do at its end.
#pragma once

#include <map>
#include <string>

#include "controller/sim/store.h"

namespace berth {

// What does not hold, for people: "layout a100: Ready is False (NodeFailed: …)". Empty if all
// holds. Without an entry of its own a layout has to be Ready; a status of an older generation
// counts for nothing.
std::string unmet(const sim::Store& store, const std::map<std::string, std::string>& expect);

}  // namespace berth
