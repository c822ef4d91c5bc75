// SPDX-License-Identifier: Apache-2.0
#include "controller/queue/cycle/quota_table.h"

#include <algorithm>

namespace berth::queue {
namespace {

std::int64_t above(std::int64_t used, std::int64_t kept) {
  return std::max<std::int64_t>(0, used - kept);
}

}  // namespace

// No user's cohort can have a slash in its name.
std::string cohort_name(const std::string& queue, const std::string& cohort) {
  return cohort.empty() ? "/" + queue : cohort;
}

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
  cohort->grown = cohort->grown || amount < 0;
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

const Quota* QueueQuotas::find(KeyId key) const {
  const auto found = std::ranges::find(quotas, key, &Quota::key);
  return found == quotas.end() ? nullptr : &*found;
}

QuotaTable::QuotaTable(const FactsIndex& index) : catalog_(index.catalog()) {
  queues_.reserve(index.queues().size());
  by_id_.resize(catalog_.queues(), nullptr);
  for (const auto& [name, fact] : index.queues()) {
    QueueQuotas& queue = queues_.emplace_back();
    queue.fact = &fact;
    queue.id = *catalog_.find_queue(name);
    by_id_[queue.id] = &queue;
    for (const QuotaFact& spec : fact.quotas) {
      Quota& quota = queue.quotas.emplace_back();
      quota.resource = *catalog_.find_resource(spec.resource);
      quota.pool = *catalog_.find_pool(spec.pool);
      quota.key = *catalog_.find_key(quota.resource, quota.pool);
      quota.nominal = spec.nominal;
      quota.borrowing_limit = spec.borrowing_limit;
      quota.lends = std::min(spec.lending_limit.value_or(spec.nominal), spec.nominal);
      quota.cohort = &cohorts_[{cohort_name(name, fact.cohort), quota.key}];
      quota.cohort->lent += quota.lends;
      if (std::find(queue.pools.begin(), queue.pools.end(), quota.pool) == queue.pools.end())
        queue.pools.push_back(quota.pool);
    }
  }
  for (const auto& [holder, by_key] : index.usage().by_holder())
    for (const auto& [key, used] : by_key) use({holder, key, used.total, used.leaving}, +1);
}

std::string QuotaTable::cohort_of(HolderId holder) const {
  const auto& [id, old_cohort] = catalog_.holder_parts(holder);
  const QueueQuotas* queue = find(id);
  return cohort_name(catalog_.queue_name(id), queue != nullptr ? queue->fact->cohort : old_cohort);
}

Quota* QuotaTable::quota_of(const Charge& charge) {
  QueueQuotas* queue = find(catalog_.holder_parts(charge.holder).first);
  if (queue == nullptr) return nullptr;
  const auto found = std::ranges::find(queue->quotas, charge.key, &Quota::key);
  return found == queue->quotas.end() ? nullptr : &*found;
}

// For a deleted queue or a removed quota, nominal is 0, so the whole charge is borrowed.
void QuotaTable::use(const Charge& charge, std::int64_t sign) {
  if (Quota* quota = quota_of(charge)) {
    quota->use(sign * charge.total);
    quota->leaving += sign * charge.leaving;
  } else {
    CohortQuota& cohort = cohorts_[{cohort_of(charge.holder), charge.key}];
    cohort.raised += sign * charge.total;
    cohort.grown = cohort.grown || sign < 0;
  }
}

void QuotaTable::let_go(const Charge& charge) {
  if (Quota* quota = quota_of(charge)) quota->leaving += charge.total - charge.leaving;
}

void QuotaTable::forget_growth() {
  for (auto& [name, cohort] : cohorts_) cohort.grown = false;
}

QueueQuotas* QuotaTable::find(QueueId queue) const {
  return queue < by_id_.size() ? by_id_[queue] : nullptr;
}

}  // namespace berth::queue
