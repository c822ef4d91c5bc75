// SPDX-License-Identifier: Apache-2.0
#include "controller/queue/budget/budget_standing.h"

#include <fmt/format.h>

#include <algorithm>

#include "apis/base/reasons.h"
#include "controller/queue/facts/amount.h"

namespace berth::queue {
namespace {

// Rounds usage down to whole hundredths of the budget.
std::int64_t in_steps(std::int64_t used, std::int64_t limit) {
  const std::int64_t step = std::max<std::int64_t>(1, limit / 100);
  return used / step * step;
}

}  // namespace

std::string format_gpu_hours(std::int64_t used) {
  return format_thousandths(used / kThousandthHour);
}

std::optional<BudgetStanding> budget_standing(const GPUQueue& queue,
                                              const BudgetAccounts& accounts) {
  const auto account = accounts.find(queue.meta.name);
  if (!queue.spec.budget || account == accounts.end()) return std::nullopt;
  return BudgetStanding{account->second.used,
                        queue.spec.budget->gpu_hours_thousandths * kThousandthHour,
                        account->second.period.until};
}

std::optional<SpentFact> held_by_budget(const GPUQueue& queue, const BudgetAccounts& accounts) {
  const auto standing = budget_standing(queue, accounts);
  if (!standing || !standing->exceeded()) return std::nullopt;
  if (queue.spec.budget->when_exceeded != WhenExceeded::kHold) return std::nullopt;
  return SpentFact{queue.spec.budget->gpu_hours_thousandths,
                   standing->ends.time_since_epoch().count()};
}

BudgetUsage tell_budget(const BudgetStanding& standing) {
  const std::int64_t used = in_steps(standing.used, standing.limit);
  return {format_gpu_hours(used),
          format_gpu_hours(std::max<std::int64_t>(0, standing.limit - used)), standing.ends};
}

std::optional<Cause> budget_exceeded(const GPUQueue& queue, const BudgetAccounts& accounts) {
  const auto standing = budget_standing(queue, accounts);
  if (!standing || !standing->exceeded()) return std::nullopt;
  const bool holds = queue.spec.budget->when_exceeded == WhenExceeded::kHold;
  return Cause{
      reasons::kBudgetExceeded,
      fmt::format("{} of {} GPU hours are used, and the {} ends {}; {}",
                  format_gpu_hours(in_steps(standing->used, standing->limit)),
                  format_gpu_hours(standing->limit),
                  queue.spec.budget->period == BudgetPeriod::kDay    ? "day"
                  : queue.spec.budget->period == BudgetPeriod::kWeek ? "week"
                                                                     : "month",
                  format_time(standing->ends),
                  holds ? "nothing more is admitted until then, unless spec.budget.gpuHours "
                          "is raised"
                        : "whenExceeded: Hold would admit nothing more until then")};
}

}  // namespace berth::queue
