// SPDX-License-Identifier: Apache-2.0
// The reference model of rules 2 and 4: for which workloads quota suffices, and which pools are
// open.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "tests/queue/model_facts.h"

namespace berth::queue::test {

struct ModelQuota : ModelFacts {
  using ModelFacts::ModelFacts;

  // --- Rule 2: quota --------------------------------------------------------------------------

  const QuotaFact* quota_of(const std::string& queue, const Key& key) const {
    auto it = queues.find(queue);
    if (it == queues.end()) return nullptr;
    for (const QuotaFact& quota : it->second->quotas) {
      if (Key(quota.resource, quota.pool) == key) return &quota;
    }
    return nullptr;
  }

  static std::int64_t lends(const QuotaFact& quota) {
    return std::min(quota.nominal, quota.lending_limit.value_or(quota.nominal));
  }

  std::int64_t lent_in(const std::string& cohort, const Key& key) const {
    std::int64_t sum = 0;
    for (const auto& [name, queue] : queues) {
      const QuotaFact* quota = quota_of(name, key);
      if (quota != nullptr && cohort_of(name) == cohort) sum += lends(*quota);
    }
    return sum;
  }

  // The cohort's use beyond what its queues keep, if `queue` used `more`.
  std::int64_t raised_in(const std::string& cohort, const Key& key, const std::string& queue,
                         std::int64_t more) const {
    std::int64_t sum = 0;
    bool seen = false;
    const auto add = [&](const std::string& name, std::int64_t used) {
      const QuotaFact* quota = quota_of(name, key);
      const std::int64_t kept = quota == nullptr ? 0 : quota->nominal - lends(*quota);
      sum += std::max<std::int64_t>(0, used + (name == queue ? more : 0) - kept);
      seen = seen || name == queue;
    };
    for (const auto& [whose, by_key] : used_by) {
      if (whose.first != cohort) continue;
      auto it = by_key.find(key);
      add(whose.second, it == by_key.end() ? 0 : it->second);
    }
    if (!seen) add(queue, 0);
    return sum;
  }

  bool has_quota(const QuotaFact& quota, const std::string& queue, std::int64_t request) {
    const Key key{quota.resource, quota.pool};
    if (request == 0) return true;
    if (quota.borrowing_limit &&
        of(used_by, queue, key) + request > quota.nominal + *quota.borrowing_limit)
      return false;
    const std::string cohort = cohort_of(queue);
    const std::int64_t after = raised_in(cohort, key, queue, request);
    return after <= lent_in(cohort, key) || after <= raised_in(cohort, key, queue, 0);
  }

  std::int64_t maximum(const QuotaFact& quota, const std::string& queue) const {
    const Key key{quota.resource, quota.pool};
    const std::int64_t others = lent_in(cohort_of(queue), key) - lends(quota);
    return quota.nominal + std::min(others, quota.borrowing_limit.value_or(others));
  }

  // --- Rule 4: pools --------------------------------------------------------------------------

  std::vector<std::string> pools_of(const Candidate& c) const {
    std::vector<std::string> pools;
    for (const QuotaFact& quota : queues.at(c.queue)->quotas) {
      if (std::find(pools.begin(), pools.end(), quota.pool) == pools.end() &&
          c.may_run_in(quota.pool))
        pools.push_back(quota.pool);
    }
    return pools;
  }

  // The first requested resource that no quota covers in the pool.
  std::string uncovered(const Candidate& c, const std::string& pool) const {
    for (const auto& [resource, amount] : c.total()) {
      bool named = false;
      for (const QuotaFact& quota : queues.at(c.queue)->quotas)
        named = named || quota.resource == resource;
      if (amount == 0 || (!is_gpu_resource(resource) && !named)) continue;
      if (quota_of(c.queue, {resource, pool}) != nullptr) continue;
      if (is_gpu_resource(resource) && quota_of(c.queue, {"gpu", pool}) != nullptr) continue;
      return resource;
    }
    return "";
  }

  // Sets the pools whose quotas cover the workload and could ever hold it, or why there is none.
  void open_pools(Candidate& c) const {
    std::string no_quota, too_much;
    for (const std::string& pool : pools_of(c)) {
      if (const std::string resource = uncovered(c, pool); !resource.empty()) {
        if (no_quota.empty()) no_quota = say("NoQuota", resource, pool);
        continue;
      }
      Pool open{pool, {}};
      std::string exceeds;
      for (const QuotaFact& quota : queues.at(c.queue)->quotas) {
        const std::int64_t amount = charged(quota.resource, pool, c.total());
        if (quota.pool != pool || amount == 0) continue;
        open.asks.emplace_back(&quota, amount);
        const std::int64_t most = maximum(quota, c.queue);
        if (amount > most && exceeds.empty())
          exceeds = say("ExceedsMaximum", quota.resource, pool, amount, 0, most);
        if (amount > quota.nominal && !may_borrow(c) && exceeds.empty())
          exceeds = say("MayNotBorrow", quota.resource, pool, amount, 0, quota.nominal);
      }
      if (exceeds.empty()) c.open.push_back(open);
      if (too_much.empty()) too_much = exceeds;
    }
    c.refusal = !too_much.empty() ? too_much : !no_quota.empty() ? no_quota : say("NoQuota");
  }

  // Work that can't be reclaimed stays within the nominal quota, unless its queue lets it borrow.
  bool may_borrow(const Candidate& c) const {
    return !c.stays || queues.at(c.queue)->preemption.stays_may_borrow;
  }

  bool is_within_nominal(const Candidate& c, const QuotaFact& quota, std::int64_t request) {
    return of(used_by, c.queue, {quota.resource, quota.pool}) + request <= quota.nominal;
  }

  bool quota_suffices(const Candidate& c, const Pool& pool) {
    return std::ranges::all_of(pool.asks, [&](const auto& ask) {
      return has_quota(*ask.first, c.queue, ask.second) &&
             (may_borrow(c) || is_within_nominal(c, *ask.first, ask.second));
    });
  }
};

}  // namespace berth::queue::test
