// SPDX-License-Identifier: Apache-2.0
// QueueConditions: Ready as kstatus defines it, and, while they are true, conditions for what the
// user probably did not intend: Unfunded, NamespaceNotManaged, DefaultContested,
// NamespaceQuotaUnmet, BudgetExceeded, BudgetPeriodUnclear, PriorityClassNotAccepted, PinBlocked,
// AdmissionsPaused, WorkloadsLeftAlone, Stopped.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "apis/kinds/gpu_queue.h"
#include "controller/core/conditions.h"
#include "controller/queue/status/queue_status.h"

namespace berth::queue {

struct QueueReason {
  std::string_view reason;
  berth::Outlook outlook = berth::Outlook::kReady;
};
// Every reason of Ready and Stalled.
std::span<const QueueReason> queue_reasons();

struct QueueConcern {
  std::string_view type;
  std::string_view reason;
};
inline constexpr char kAdmissionsPaused[] = "AdmissionsPaused";
// Every other condition, with each of its reasons.
std::span<const QueueConcern> queue_concerns();

// Transition times are the snapshot's time.
std::vector<Condition> queue_conditions(const Snapshot& snapshot, const GPUQueue& queue,
                                        const QueueTotals& totals, const QueueFindings& findings);

}  // namespace berth::queue
