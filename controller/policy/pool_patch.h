// SPDX-License-Identifier: Apache-2.0
// PoolPatch: the one write of a pool's change. Labels, taints and the record of them move together
// or not at all, and only if all three are still as they were read.
#pragma once

#include "controller/core/plan.h"
#include "controller/policy/pool_change.h"

namespace berth {

// Appends the steps. A node that has no annotation yet gets an empty record first, since a JSON
// patch can't test a key of a map that isn't there.
void plan_pool_patch(const Node& node, const PoolChange& change, std::string reason, Plan& plan);

}  // namespace berth
