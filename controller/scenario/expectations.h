// SPDX-License-Identifier: Apache-2.0
// Expectations: whether layouts and the policy are at the end as the scenario says.
#pragma once

#include <map>
#include <string>

#include "controller/sim/world/store.h"

namespace berth {

// The unmet expectations, for users: "layout a100: Ready is False (NodeFailed: …)". Empty if all
// are met. `expect` is by layout name or "gpuclusterpolicy/NAME". An object without an entry must
// be Ready; a status of an older generation does not count.
std::string unmet(const sim::Store& store, const std::map<std::string, std::string>& expect);

}  // namespace berth
