// SPDX-License-Identifier: Apache-2.0
// LostPods: the answers of `berth why` about pods that can't leave a node that is not ready
// (queue/index/dead_nodes.h).
#pragma once

#include "controller/core/snapshot.h"
#include "controller/explain/explanation.h"

namespace berth {

// For a lost pod this is the answer; it says what happens to the pod. Ignores all other pods.
void explain_lost(const Snapshot& snapshot, const Pod& pod, Explanation& out);

// Lists pods of queues that can't leave the node, and what a user can do.
void note_lost_pods(const Snapshot& snapshot, const Node& node, Explanation& out);

}  // namespace berth
