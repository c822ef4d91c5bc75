// SPDX-License-Identifier: Apache-2.0
// explain_pin: of a pod that its queue has pinned to nodes and that is on none, to which, since
// when, and what berth does about it.
#pragma once

#include "controller/core/cluster_state.h"
#include "controller/explain/explanation.h"

namespace berth {

// `pod` is on no node. Of one that is not pinned, nothing. If the nodes can't have it, or berth
// leaves it there, that is the answer.
void explain_pin(const ClusterState& cluster, const Pod& pod, Explanation& out);

}  // namespace berth
