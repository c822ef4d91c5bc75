// SPDX-License-Identifier: Apache-2.0
// Queueless: work that waits for the queue that its label names, where the cluster has no queue at
// all. Without queues nothing else of theirs is looked at, so this asks the objects alone.
#pragma once

#include "controller/core/cluster_state.h"

namespace berth::queue {

// A suspended Job, or a gated pod. Not what Kueue holds, nor what a person has on hold.
bool waits_for_named_queue(const berth::Job& job);
bool waits_for_named_queue(const berth::Pod& pod);
// Whether any does.
bool any_waits_for_named_queue(const ClusterState& cluster);

}  // namespace berth::queue
