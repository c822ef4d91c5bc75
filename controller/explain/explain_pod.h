// SPDX-License-Identifier: Apache-2.0
// explain_pod: where a pod is and what it holds, or why it waits: node by node as the scheduler
// would judge, folded, in words that its owner can act on.
#pragma once

#include "controller/core/snapshot.h"
#include "controller/dump/clues.h"
#include "controller/explain/explain_queue.h"
#include "controller/explain/explanation.h"
#include "controller/fleet/fit.h"

namespace berth {

// `pod` is one of the snapshot's.
Explanation explain_pod(const Snapshot& snapshot, const Pod& pod, const Clues& clues = no_clues());
// The same of several pods: `fit` is the cluster's.
Explanation explain_pod(const Snapshot& snapshot, const Pod& pod, const Clues& clues,
                        const Fit& fit, const QueueWhy& queues);

}  // namespace berth
