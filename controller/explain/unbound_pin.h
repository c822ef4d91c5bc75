// SPDX-License-Identifier: Apache-2.0
// explain_pin: of a pod that its queue has pinned to nodes and that is on none, to which, since
// when, and what berth does about it.
#pragma once

#include "controller/core/snapshot.h"
#include "controller/explain/explanation.h"

namespace berth {

// `pod` is on no node. Of one that is not pinned, nothing. If the nodes can't have it, or its time
// is over and berth leaves it so, that is the answer.
void explain_pin(const Snapshot& snapshot, const Pod& pod, Explanation& out);

}  // namespace berth
