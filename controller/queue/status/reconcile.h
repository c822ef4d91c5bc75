// SPDX-License-Identifier: Apache-2.0
// The reconcilers that report, and decide nothing: pure functions from a snapshot to a plan.
#pragma once

#include <string_view>

#include "controller/core/plan.h"
#include "controller/core/snapshot.h"

namespace berth {

// The status of every GPUQueue. One key for all queues: cohorts that share nodes are decided in one
// cycle.
inline constexpr std::string_view kQueuesKey = "queues";
Plan reconcile_queues(const Snapshot& snapshot);

// The ResourceQuotas of their namespaces.
inline constexpr std::string_view kNamespaceQuotasKey = "namespace-quotas";
Plan reconcile_namespace_quotas(const Snapshot& snapshot);

// Why it waits, on what waits: the hundred oldest of each queue, a few a second.
inline constexpr std::string_view kReasonsKey = "reasons";
Plan reconcile_reasons(const Snapshot& snapshot);

// What queues use of GPU hours, written down once a minute (usage_meter.h).
inline constexpr std::string_view kUsageKey = "usage";

}  // namespace berth
