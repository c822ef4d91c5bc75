// SPDX-License-Identifier: Apache-2.0
#include "controller/queue/status/budget_figures.h"

#include <utility>

#include "controller/queue/budget/budget_standing.h"
#include "controller/queue/budget/usage_ledger.h"

namespace berth::queue {
namespace {

double in_seconds(std::int64_t used) {
  return 3.6 * static_cast<double>(used) / static_cast<double>(kThousandthHour);
}

}  // namespace

Figures budget_figures(const ClusterState& cluster, const Settings& settings) {
  Figure limits{"berth_queue_budget_gpu_seconds", "The GPU seconds of the queue's budget."};
  Figure used{"berth_queue_budget_used_gpu_seconds",
              "What is used of it in the period that runs, as it was written down last."};
  const BudgetAccounts& accounts = gpu_hours_in(cluster, settings).budgets;
  for (const auto& queue : cluster.gpu_queues()) {
    const auto budget = budget_standing(*queue, accounts);
    if (!budget) continue;
    limits.add({{"queue", queue->meta.name}}, in_seconds(budget->limit));
    used.add({{"queue", queue->meta.name}}, in_seconds(budget->used));
  }
  if (limits.samples.empty()) return {};
  return {std::move(limits), std::move(used)};
}

}  // namespace berth::queue
