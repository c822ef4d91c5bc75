// SPDX-License-Identifier: Apache-2.0
// explain_pod: where a pod is and what it holds, or why it waits. For a pending pod it judges each
// node as the scheduler would, groups the results, and says what the pod's owner can do.
#pragma once

#include "controller/core/snapshot.h"
#include "controller/dump/clues.h"
#include "controller/explain/explain_queue.h"
#include "controller/explain/explanation.h"
#include "controller/fleet/fit.h"

namespace berth {

// `pod` must be in the snapshot.
Explanation explain_pod(const Snapshot& snapshot, const Pod& pod, const Clues& clues = no_clues());
// The same for several pods: `fit` and `queues` are computed once.
Explanation explain_pod(const Snapshot& snapshot, const Pod& pod, const Clues& clues,
                        const Fit& fit, const QueueWhy& queues);

}  // namespace berth
