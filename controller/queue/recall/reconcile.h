// SPDX-License-Identifier: Apache-2.0
// The reconcilers that take work back: one pure function from a snapshot to a plan for each key.
#pragma once

#include <string_view>

#include "controller/core/plan.h"
#include "controller/core/snapshot.h"

namespace berth {

// Under idle.policy Always, takes back work whose GPUs are idle, whoever waits. Under OnPressure
// the admissions do, for those that begin with them, and this tells who may not go.
inline constexpr std::string_view kReclaimKey = "reclaim";
Plan reconcile_reclaim(const Snapshot& snapshot);

// Takes back what a drained queue has admitted, and what is pinned to nodes where it is not bound
// in time: Jobs are suspended and wait again, pods that their controller makes anew are evicted
// within their budgets.
inline constexpr std::string_view kRequeueKeys = "requeue/";
Plan reconcile_requeue(const Snapshot& snapshot, std::string_view name);

// Of a node that is not ready, the pods that can't leave it (dead_nodes.h): they are marked as
// lost, their Jobs replace them, and what is safe to is deleted by force once its queue says so.
inline constexpr std::string_view kDeadNodeKeys = "dead-node/";
Plan reconcile_dead_node(const Snapshot& snapshot, std::string_view name);

}  // namespace berth
