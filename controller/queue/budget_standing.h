// SPDX-License-Identifier: Apache-2.0
// BudgetStanding: what a queue's budget comes to, as it was written down last.
#pragma once

#include <optional>

#include "apis/gpu_queue.h"
#include "controller/core/cause.h"
#include "controller/queue/facts.h"
#include "controller/queue/gpu_hours.h"

namespace berth::queue {

struct BudgetStanding {
  std::int64_t used = 0;  // millionths of a GPU times seconds, as the others
  std::int64_t limit = 0;
  Time ends{};
  bool exceeded() const { return used >= limit; }
};
// Nothing without a budget, or before anything of it was written down.
std::optional<BudgetStanding> budget_standing(const GPUQueue& queue,
                                              const BudgetAccounts& accounts);

// That nothing more is admitted because of it.
std::optional<SpentFact> held_by_budget(const GPUQueue& queue, const BudgetAccounts& accounts);

// For the status. In steps of a hundredth: a queue's status is not written once a minute.
BudgetUsage tell_budget(const BudgetStanding& standing);
// Why BudgetExceeded holds; nothing while it does not.
std::optional<Cause> budget_exceeded(const GPUQueue& queue, const BudgetAccounts& accounts);

// "12.5": whole hours and thousandths.
std::string format_gpu_hours(std::int64_t used);

}  // namespace berth::queue
