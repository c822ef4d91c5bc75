// SPDX-License-Identifier: Apache-2.0
// QuotaTable: every queue's quotas and what is used of them, and what each cohort lends and has
// lent, for one cycle (rules 1 and 2).
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "controller/core/seeded_bugs.h"
#include "controller/queue/facts_index.h"

namespace berth::queue {

// The queue's cohort, under a name that no other has: of one without a cohort its own.
std::string cohort_name(const std::string& queue, const std::string& cohort);

struct CohortQuota {        // one (resource, pool) in one cohort
  std::int64_t lent = 0;    // the sum of what its queues lend
  std::int64_t raised = 0;  // the sum of what they use beyond what they keep
  bool grown = false;       // somebody uses less since forget_growth()
};

struct Quota {
  KeyId key = 0;
  ResourceId resource = 0;
  PoolId pool = Catalog::kAny;
  std::int64_t nominal = 0;
  std::optional<std::int64_t> borrowing_limit;
  std::int64_t lends = 0;
  std::int64_t used = 0;
  std::int64_t leaving = 0;  // of used
  CohortQuota* cohort = nullptr;

  std::int64_t kept() const { return nominal - lends; }
  // What may still be admitted here: within the queue's own bounds, and of the cohort's what is not
  // lent out. What the queue keeps is its own even while others are over.
  std::int64_t free() const;
  std::int64_t free_within_nominal() const {
    return std::min(free(), std::max<std::int64_t>(0, nominal - used));
  }
  std::int64_t free_for(bool may_borrow) const {
    return may_borrow ? free() : free_within_nominal();
  }
  // The most that could ever be admitted here.
  std::int64_t maximum() const;
  void use(std::int64_t amount);
};

struct QueueQuotas {
  const QueueFact* fact = nullptr;
  QueueId id = Catalog::kNoQueue;
  std::vector<Quota> quotas;  // as the spec orders them
  std::vector<PoolId> pools;  // each once, in that order
  bool names(ResourceId resource) const;
  const Quota* find(ResourceId resource, PoolId pool) const;
  const Quota* find(KeyId key) const;
  // What could not be given back may not, unless the queue says so.
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
  // As cohort_name() has it, also of a queue that is deleted.
  std::string cohort_of(HolderId holder) const;
  // What is charged is used no more or, sign being +1, again.
  void use(const Charge& charge, std::int64_t sign);
  // All of what is charged is leaving.
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
