// SPDX-License-Identifier: Apache-2.0
// The reconcilers that take workloads back: for each key, a pure function from a snapshot to a
// plan.
#pragma once

#include <string_view>

#include "controller/core/plan.h"
#include "controller/core/snapshot.h"

namespace berth::queue {

// Under idle.policy Always, it takes back workloads with idle GPUs even if no workload waits. Under
// OnPressure, reconcile_admissions takes them back for waiting workloads, and this function reports
// the pods that may not be evicted.
inline constexpr std::string_view kReclaimKey = "reclaim";
Plan reconcile_reclaim(const Snapshot& snapshot);

// Takes back what a drained queue has admitted, and pinned pods that were not bound in time. Jobs
// are suspended and wait again. Pods that their controller re-creates are evicted within their
// budgets.
inline constexpr std::string_view kRequeueKeys = "requeue/";
Plan reconcile_requeue(const Snapshot& snapshot, std::string_view name);

// For pods that can't leave a node that is not ready (dead_nodes.h): berth marks them as lost,
// their Jobs replace them, and berth deletes by force the pods that are marked as safe, after the
// time that their queue sets.
inline constexpr std::string_view kDeadNodeKeys = "dead-node/";
Plan reconcile_dead_node(const Snapshot& snapshot, std::string_view name);

}  // namespace berth::queue
