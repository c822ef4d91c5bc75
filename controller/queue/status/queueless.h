// SPDX-License-Identifier: Apache-2.0
// Queueless: workloads that wait for the queue in their label, in a cluster without any queue.
// Without queues berth builds no index, so these functions read only the objects.
#pragma once

#include "controller/core/cluster_state.h"

namespace berth::queue {

// Whether it is a suspended Job or a gated pod with a queue label. Jobs that Kueue or a user holds
// do not count.
bool waits_for_named_queue(const berth::Job& job);
bool waits_for_named_queue(const berth::Pod& pod);
// Whether any object waits in this way.
bool any_waits_for_named_queue(const ClusterState& cluster);

}  // namespace berth::queue
