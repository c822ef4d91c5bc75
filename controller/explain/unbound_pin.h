// SPDX-License-Identifier: Apache-2.0
// explain_pin: for a pod that its queue has pinned and that is on no node: its nodes, since when,
// and what berth does about it.
#pragma once

#include "controller/core/snapshot.h"
#include "controller/explain/explanation.h"

namespace berth {

// `pod` must be on no node. Does nothing for a pod without a pin. If the nodes can't take the pod,
// or its time is over and berth leaves it there, this is the answer.
void explain_pin(const Snapshot& snapshot, const Pod& pod, Explanation& out);

}  // namespace berth
