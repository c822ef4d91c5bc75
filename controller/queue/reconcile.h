// SPDX-License-Identifier: Apache-2.0
// The reconcilers of the queues: pure functions from a snapshot to a plan. One decides and records
// its decisions. One releases what is recorded. Others report. So no decision waits for a release,
// and no release is sent before its decision is in the ledger.
#pragma once

#include <string_view>

#include "controller/core/plan.h"
#include "controller/core/snapshot.h"

namespace berth {

// One key for all queues, as one cycle decides all cohorts that share nodes.
inline constexpr std::string_view kQueuesKey = "queues";

// Writes the status of every GPUQueue.
Plan reconcile_queues(const Snapshot& snapshot);

// Writes the ResourceQuotas of the queues' namespaces.
inline constexpr std::string_view kNamespaceQuotasKey = "namespace-quotas";
Plan reconcile_namespace_quotas(const Snapshot& snapshot);

// Decides which workloads are admitted next, in one write of the ledger.
inline constexpr std::string_view kAdmissionsKey = "admissions";
Plan reconcile_admissions(const Snapshot& snapshot);

// Writes on waiting workloads why they wait: on the hundred oldest of each queue, a few per second.
inline constexpr std::string_view kReasonsKey = "reasons";
Plan reconcile_reasons(const Snapshot& snapshot);

// Writes expected start times into the same statuses, once a minute (start_teller.h). This function
// starts a new round of plays, and reports only if one turn is enough for it.
inline constexpr std::string_view kEstimatesKey = "estimates";
Plan reconcile_estimates(const Snapshot& snapshot);

// Under idle.policy Always, it takes back workloads with idle GPUs even if no workload waits. Under
// OnPressure, reconcile_admissions takes them back for waiting workloads, and this function reports
// the pods that may not be evicted.
inline constexpr std::string_view kReclaimKey = "reclaim";
Plan reconcile_reclaim(const Snapshot& snapshot);

// Releases the objects of an admitted workload. `name` is the workload's name: "Job/ns/train".
inline constexpr std::string_view kReleaseKeys = "release/";
Plan reconcile_release(const Snapshot& snapshot, std::string_view name);

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

// Records the GPU hours that queues use, once a minute (usage_meter.h). Like a new leader, this
// function knows only the recorded usage.
inline constexpr std::string_view kUsageKey = "usage";
Plan reconcile_usage(const Snapshot& snapshot);

}  // namespace berth
