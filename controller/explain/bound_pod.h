// SPDX-License-Identifier: Apache-2.0
// explain_bound: where a pod sits, and whether it may stay there.
#pragma once

#include "controller/core/snapshot.h"
#include "controller/dump/clues.h"
#include "controller/explain/explanation.h"

namespace berth {

// `pod` is one of the snapshot's, and on a node. State, reason, message and facts go into `out`.
void explain_bound(const Snapshot& snapshot, const Pod& pod, const Clues& clues, Explanation& out);

}  // namespace berth
