// SPDX-License-Identifier: Apache-2.0
#include "controller/queue/cycle/route.h"

#include <algorithm>

#include "controller/queue/facts/capped.h"

namespace berth::queue {
namespace {

std::int64_t asked_of(const Quota& quota, const Vector& total, const Catalog& catalog,
                      const NodeRoom& room) {
  std::int64_t amount = 0;
  for (const auto& [resource, asked] : total) {
    if (resource == quota.resource) return asked;
    if (quota.resource == Catalog::kClass && catalog.counts_as_gpu(resource)) {
      amount = capped_sum(amount, capped_product(asked, room.weight(quota.pool, resource)));
    }
  }
  return amount;
}

// Returns the first resource by name that needs quota and has none in the pool; null if there is
// none.
const ResourceId* uncovered(const QueueQuotas& queue, const Vector& total, PoolId pool,
                            const Catalog& catalog) {
  for (const auto& [resource, asked] : total) {
    const bool gpu = catalog.counts_as_gpu(resource);
    if (!gpu && !queue.names(resource)) continue;
    if (queue.find(resource, pool) != nullptr) continue;
    if (gpu && queue.find(Catalog::kClass, pool) != nullptr) continue;
    return &resource;
  }
  return nullptr;
}

}  // namespace

void find_routes(const QueueQuotas& queue, ClassId workloads, const Catalog& catalog,
                 const NodeRoom& room, Routes& routes) {
  const ClassFacts& facts = catalog.class_facts(workloads);
  const bool may_borrow = queue.may_borrow(catalog.class_key(workloads));
  routes.open.clear();
  routes.refusal = {.reason = Reason::kNoQuota};
  bool uncovered_told = false, covered_somewhere = false;
  for (const PoolId pool : queue.pools) {
    if (!facts.may_run_in(pool)) continue;
    if (const ResourceId* resource = uncovered(queue, facts.total, pool, catalog)) {
      if (!uncovered_told && !covered_somewhere) {
        routes.refusal.resource = *resource;
        routes.refusal.pool = pool;
      }
      uncovered_told = true;
      continue;
    }
    Route route{.pool = pool, .asks = {}, .may_borrow = may_borrow};
    const Quota* too_small = nullptr;
    for (std::uint32_t i = 0; i < queue.quotas.size(); ++i) {
      const Quota& quota = queue.quotas[i];
      if (quota.pool != pool) continue;
      const std::int64_t amount = asked_of(quota, facts.total, catalog, room);
      if (amount == 0) continue;
      route.asks.emplace_back(i, amount);
      const bool within = may_borrow || amount <= quota.nominal;
      if (amount <= quota.maximum() && within) continue;
      if (too_small == nullptr && !covered_somewhere) {
        if (amount > quota.maximum())
          routes.refusal = {Reason::kExceedsMaximum, quota.resource, pool, amount, 0,
                            quota.maximum(),         nullptr};
        else
          routes.refusal = {Reason::kMayNotBorrow, quota.resource, pool, amount, 0,
                            quota.nominal,         nullptr};
      }
      too_small = &quota;
    }
    covered_somewhere = true;
    if (too_small == nullptr) routes.open.push_back(std::move(route));
  }
}

}  // namespace berth::queue
