// SPDX-License-Identifier: Apache-2.0
#include "controller/queue/quota_table.h"

#include <algorithm>

namespace berth::queue {
namespace {

std::int64_t above(std::int64_t used, std::int64_t kept) {
  return std::max<std::int64_t>(0, used - kept);
}

// A queue without a cohort is one by itself, under a name that no cohort can have.
std::string cohort_name(const std::string& queue, const std::string& cohort) {
  return cohort.empty() ? "/" + queue : cohort;
}

}  // namespace

std::int64_t Quota::free() const {
  const std::int64_t of_cohort =
      above(kept(), used) + std::max<std::int64_t>(0, cohort->lent - cohort->raised);
  if (!borrowing_limit) return of_cohort;
  return std::max<std::int64_t>(0, std::min(of_cohort, nominal + *borrowing_limit - used));
}

std::int64_t Quota::maximum() const {
  const std::int64_t of_cohort = nominal + cohort->lent - lends;
  return borrowing_limit ? std::min(of_cohort, nominal + *borrowing_limit) : of_cohort;
}

void Quota::use(std::int64_t amount) {
  cohort->raised -= above(used, kept());
  used += amount;
  cohort->raised += above(used, kept());
}

bool QueueQuotas::names(ResourceId resource) const {
  return std::any_of(quotas.begin(), quotas.end(),
                     [&](const Quota& quota) { return quota.resource == resource; });
}

const Quota* QueueQuotas::find(ResourceId resource, PoolId pool) const {
  for (const Quota& quota : quotas) {
    if (quota.resource == resource && quota.pool == pool) return &quota;
  }
  return nullptr;
}

QuotaTable::QuotaTable(const FactsIndex& index) {
  const Catalog& catalog = index.catalog();
  queues_.reserve(index.queues().size());
  by_id_.resize(catalog.queues(), nullptr);
  for (const auto& [name, fact] : index.queues()) {
    QueueQuotas& queue = queues_.emplace_back();
    queue.fact = &fact;
    queue.id = *catalog.find_queue(name);
    by_id_[queue.id] = &queue;
    for (const QuotaFact& spec : fact.quotas) {
      Quota& quota = queue.quotas.emplace_back();
      quota.resource = *catalog.find_resource(spec.resource);
      quota.pool = *catalog.find_pool(spec.pool);
      quota.key = *catalog.find_key(quota.resource, quota.pool);
      quota.nominal = spec.nominal;
      quota.borrowing_limit = spec.borrowing_limit;
      quota.lends = std::min(spec.lending_limit.value_or(spec.nominal), spec.nominal);
      quota.cohort = &cohorts_[{cohort_name(name, fact.cohort), quota.key}];
      quota.cohort->lent += quota.lends;
      if (std::find(queue.pools.begin(), queue.pools.end(), quota.pool) == queue.pools.end())
        queue.pools.push_back(quota.pool);
    }
  }
  for (const auto& [holder, by_key] : index.usage().by_holder()) {
    const auto& [queue_id, old_cohort] = catalog.holder_parts(holder);
    QueueQuotas* queue = find(queue_id);
    for (const auto& [key, used] : by_key) {
      // Of a deleted queue, or of a quota that was taken away, nominal is 0: all of it is borrowed.
      Quota* quota = nullptr;
      for (std::size_t i = 0; queue != nullptr && i < queue->quotas.size(); ++i) {
        if (queue->quotas[i].key == key) quota = &queue->quotas[i];
      }
      if (quota != nullptr) {
        quota->use(used.total);
        quota->leaving += used.leaving;
      } else {
        const std::string& cohort = queue != nullptr ? queue->fact->cohort : old_cohort;
        cohorts_[{cohort_name(catalog.queue_name(queue_id), cohort), key}].raised += used.total;
      }
    }
  }
}

QueueQuotas* QuotaTable::find(QueueId queue) const {
  return queue < by_id_.size() ? by_id_[queue] : nullptr;
}

}  // namespace berth::queue
