// SPDX-License-Identifier: Apache-2.0
// explain_node: which pool and which layout a node belongs to and why, where it stands in the
// rollout, who keeps it out of service, and what keeps it from being drained.
#pragma once

#include "controller/core/snapshot.h"
#include "controller/dump/clues.h"
#include "controller/explain/explanation.h"

namespace berth {

// `node` is one of the snapshot's.
Explanation explain_node(const Snapshot& snapshot, const Node& node,
                         const Clues& clues = no_clues());

}  // namespace berth
