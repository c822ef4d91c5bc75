// SPDX-License-Identifier: Apache-2.0
// QueueConditions: Ready after kstatus, and beside it, while they are true, what is most likely not
// meant so: Unfunded, NamespaceNotManaged, DefaultContested, NamespaceQuotaUnmet, BudgetExceeded,
// BudgetPeriodUnclear, PriorityClassNotAccepted, PinBlocked, AdmissionsPaused, WorkloadsLeftAlone,
// Stopped.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "apis/gpu_queue.h"
#include "controller/core/conditions.h"
#include "controller/queue/queue_status.h"

namespace berth {

struct QueueReason {
  std::string_view reason;
  Outlook outlook = Outlook::kReady;
};
// Every reason of Ready and Stalled.
std::span<const QueueReason> queue_reasons();

struct QueueConcern {
  std::string_view type;
  std::string_view reason;
};
inline constexpr char kAdmissionsPaused[] = "AdmissionsPaused";
// Every condition beside those, with each of its reasons.
std::span<const QueueConcern> queue_concerns();

// Their times are those of now.
std::vector<Condition> queue_conditions(const Snapshot& snapshot, const GPUQueue& queue,
                                        const QueueTotals& totals, const QueueFindings& findings);

}  // namespace berth
