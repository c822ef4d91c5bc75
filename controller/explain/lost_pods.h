// SPDX-License-Identifier: Apache-2.0
// What `berth why` says of pods that can't leave a node that is not ready
// (queue/index/dead_nodes.h).
#pragma once

#include "controller/core/snapshot.h"
#include "controller/explain/explanation.h"

namespace berth {

// Of a lost pod it is the answer, with what becomes of the pod.
void explain_lost(const Snapshot& snapshot, const Pod& pod, Explanation& out);

// The pods of queues that can't leave the node, and what a person can do.
void note_lost_pods(const Snapshot& snapshot, const Node& node, Explanation& out);

}  // namespace berth
