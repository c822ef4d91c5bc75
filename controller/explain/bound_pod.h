// SPDX-License-Identifier: Apache-2.0
// explain_bound: which node a pod is on, and whether it may stay there.
#pragma once

#include "controller/core/snapshot.h"
#include "controller/dump/clues.h"
#include "controller/explain/explanation.h"

namespace berth {

// `pod` must be in the snapshot and on a node. Sets state, reason and message of `out`, and adds
// facts.
void explain_bound(const Snapshot& snapshot, const Pod& pod, const Clues& clues, Explanation& out);

}  // namespace berth
