// SPDX-License-Identifier: Apache-2.0
// explain_node: a node's pool and layout and why they apply, its state in the rollout, who keeps it
// out of service, and what prevents a drain.
#pragma once

#include "controller/core/snapshot.h"
#include "controller/dump/clues.h"
#include "controller/explain/explanation.h"

namespace berth {

// `node` must be in the snapshot.
Explanation explain_node(const Snapshot& snapshot, const Node& node,
                         const Clues& clues = no_clues());

}  // namespace berth
