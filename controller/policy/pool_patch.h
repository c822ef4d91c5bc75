// SPDX-License-Identifier: Apache-2.0
// PoolPatch: the one write of a pool's change. Labels, taints and their record change together or
// not at all, and only if all three are unchanged since they were read.
#pragma once

#include "controller/core/plan.h"
#include "controller/policy/pool_change.h"

namespace berth {

// Adds the steps. A node without annotations gets an empty record first, because a JSON patch can't
// test a key of a missing map.
void plan_pool_patch(const Node& node, const PoolChange& change, std::string reason, Plan& plan);

}  // namespace berth
