// SPDX-License-Identifier: Apache-2.0
// The queues' reconcilers: pure functions from a snapshot to a plan. One decides, and writes that
// down; one lets go what was written down; one tells. So no decision waits for a release, and no
// release comes before its decision stands in the ledger.
#pragma once

#include <string_view>

#include "controller/core/plan.h"
#include "controller/core/snapshot.h"

namespace berth {

// One key for all queues: cohorts that share nodes are decided in one cycle.
inline constexpr std::string_view kQueuesKey = "queues";

// The status of every GPUQueue.
Plan reconcile_queues(const Snapshot& snapshot);

// The ResourceQuotas of their namespaces.
inline constexpr std::string_view kNamespaceQuotasKey = "namespace-quotas";
Plan reconcile_namespace_quotas(const Snapshot& snapshot);

// Who is admitted next: one write of the ledger.
inline constexpr std::string_view kAdmissionsKey = "admissions";
Plan reconcile_admissions(const Snapshot& snapshot);

// Why it waits, on what waits: the hundred oldest of each queue, a few a second.
inline constexpr std::string_view kReasonsKey = "reasons";
Plan reconcile_reasons(const Snapshot& snapshot);

// From when to when it begins, in the same status: once a minute, of what has waited for one
// (start_teller.h).
inline constexpr std::string_view kEstimatesKey = "estimates";

// Under idle.policy Always, takes back work whose GPUs are idle, whoever waits. Under OnPressure
// the admissions do, for those that begin with them, and this tells who may not go.
inline constexpr std::string_view kReclaimKey = "reclaim";
Plan reconcile_reclaim(const Snapshot& snapshot);

// Lets the workload's objects go. `name` is the workload's: "Job/ns/train".
inline constexpr std::string_view kReleaseKeys = "release/";
Plan reconcile_release(const Snapshot& snapshot, std::string_view name);

// Takes back what a drained queue has admitted, and what is pinned to nodes where it is not bound
// in time: Jobs are suspended and wait again, pods that their controller makes anew are evicted
// within their budgets.
inline constexpr std::string_view kRequeueKeys = "requeue/";
Plan reconcile_requeue(const Snapshot& snapshot, std::string_view name);

// Of a node that is not ready, the pods that can't leave it (dead_nodes.h): they are marked as
// lost, their Jobs replace them, and what is safe to is deleted by force once its queue says so.
inline constexpr std::string_view kDeadNodeKeys = "dead-node/";
Plan reconcile_dead_node(const Snapshot& snapshot, std::string_view name);

// What queues use of GPU hours, written down once a minute (usage_meter.h).
inline constexpr std::string_view kUsageKey = "usage";

}  // namespace berth
