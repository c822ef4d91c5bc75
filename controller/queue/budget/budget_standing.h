// SPDX-License-Identifier: Apache-2.0
// BudgetStanding: how much of a queue's budget is used, as last recorded.
#pragma once

#include <optional>

#include "apis/kinds/gpu_queue.h"
#include "controller/core/cause.h"
#include "controller/queue/budget/gpu_hours.h"
#include "controller/queue/facts/facts.h"

namespace berth::queue {

struct BudgetStanding {
  std::int64_t used = 0;  // GPU seconds in millionths, as is `limit`
  std::int64_t limit = 0;
  Time ends{};
  bool exceeded() const { return used >= limit; }
};
// Returns nothing if the queue has no budget or no usage is recorded yet.
std::optional<BudgetStanding> budget_standing(const GPUQueue& queue,
                                              const BudgetAccounts& accounts);

// Returns a value if the queue admits nothing more because its budget is used up.
std::optional<SpentFact> held_by_budget(const GPUQueue& queue, const BudgetAccounts& accounts);

// Returns the usage for the status, rounded down to a hundredth of the budget. Otherwise berth
// would write the status once a minute.
BudgetUsage tell_budget(const BudgetStanding& standing);
// Returns why BudgetExceeded is true; nothing if it is not.
std::optional<Cause> budget_exceeded(const GPUQueue& queue, const BudgetAccounts& accounts);

// Formats GPU hours with up to three decimals: "12.5".
std::string format_gpu_hours(std::int64_t used);

}  // namespace berth::queue
