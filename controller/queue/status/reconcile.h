// SPDX-License-Identifier: Apache-2.0
// The reconcilers that report and decide nothing: pure functions from a snapshot to a plan.
#pragma once

#include <string_view>

#include "controller/core/plan.h"
#include "controller/core/snapshot.h"

namespace berth::queue {

// Writes the status of every GPUQueue. One key for all queues, as one cycle decides all cohorts
// that share nodes.
inline constexpr std::string_view kQueuesKey = "queues";
Plan reconcile_queues(const Snapshot& snapshot);

// Writes the ResourceQuotas of the queues' namespaces.
inline constexpr std::string_view kNamespaceQuotasKey = "namespace-quotas";
Plan reconcile_namespace_quotas(const Snapshot& snapshot);

// Writes on waiting workloads why they wait: on the hundred oldest of each queue, a few per second.
inline constexpr std::string_view kReasonsKey = "reasons";
Plan reconcile_reasons(const Snapshot& snapshot);

// Records the GPU hours that queues use, once a minute (usage_meter.h). Like a new leader, this
// function knows only the recorded usage.
inline constexpr std::string_view kUsageKey = "usage";

}  // namespace berth::queue
