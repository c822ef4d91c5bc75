// SPDX-License-Identifier: Apache-2.0
// QuotaTable: for one cycle, every queue's quotas and their usage, and what each cohort lends and
// has lent (rules 1 and 2).
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "controller/core/seeded_bugs.h"
#include "controller/queue/facts/facts_index.h"

namespace berth::queue {

// Returns the name of the queue's cohort. A queue without a cohort gets a name that no other cohort
// can have.
std::string cohort_name(const std::string& queue, const std::string& cohort);

struct CohortQuota {        // one (resource, pool) in one cohort
  std::int64_t lent = 0;    // the sum of what its queues lend
  std::int64_t raised = 0;  // the sum of what its queues use beyond what they keep
  bool grown = false;       // a queue used less at some time since forget_growth()
};

struct Quota {
  KeyId key = 0;
  ResourceId resource = 0;
  PoolId pool = Catalog::kAny;
  std::int64_t nominal = 0;
  std::optional<std::int64_t> borrowing_limit;
  std::int64_t lends = 0;
  std::int64_t used = 0;
  std::int64_t leaving = 0;  // part of used
  CohortQuota* cohort = nullptr;

  std::int64_t kept() const { return nominal - lends; }
  // Returns what the queue may still admit: within its own limits, and from the cohort as much as
  // is not lent yet. The quota that the queue keeps stays available to it even if others use too
  // much.
  std::int64_t free() const;
  std::int64_t free_within_nominal() const {
    return std::min(free(), std::max<std::int64_t>(0, nominal - used));
  }
  std::int64_t free_for(bool may_borrow) const {
    return may_borrow ? free() : free_within_nominal();
  }
  // Returns the most that could ever be admitted here.
  std::int64_t maximum() const;
  void use(std::int64_t amount);
};

struct QueueQuotas {
  const QueueFact* fact = nullptr;
  QueueId id = Catalog::kNoQueue;
  std::vector<Quota> quotas;  // in the order of the spec
  std::vector<PoolId> pools;  // each once, in the order of the spec
  bool names(ResourceId resource) const;
  const Quota* find(ResourceId resource, PoolId pool) const;
  const Quota* find(KeyId key) const;
  // Workloads that could stay may not borrow, unless the queue allows it.
  bool may_borrow(const ClassKey& workloads) const {
    return !workloads.stays || fact->preemption.stays_may_borrow || seeded(SeededBug::kLendForGood);
  }
};

class QuotaTable {
 public:
  explicit QuotaTable(const FactsIndex& index);
  QuotaTable(const QuotaTable&) = delete;
  QuotaTable& operator=(const QuotaTable&) = delete;

  std::vector<QueueQuotas>& queues() { return queues_; }  // by name
  QueueQuotas* find(QueueId queue) const;
  // Returns a cohort_name(), also for a deleted queue.
  std::string cohort_of(HolderId holder) const;
  // Adds the charge to the usage (sign +1) or removes it (-1).
  void use(const Charge& charge, std::int64_t sign);
  // Counts the whole charge as leaving.
  void let_go(const Charge& charge);
  void forget_growth();

 private:
  Quota* quota_of(const Charge& charge);

  const Catalog& catalog_;
  std::vector<QueueQuotas> queues_;
  std::vector<QueueQuotas*> by_id_;
  std::map<std::pair<std::string, KeyId>, CohortQuota> cohorts_;
};

}  // namespace berth::queue
