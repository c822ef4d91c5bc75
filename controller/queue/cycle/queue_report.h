// SPDX-License-Identifier: Apache-2.0
// QueueReport: one queue in numbers: what it uses of each quota, which workloads wait, and why.
// Statuses, metrics and previews are made from it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "controller/queue/cycle/cycle.h"

namespace berth::queue {

struct QuotaReport {
  ResourceId resource = 0;
  PoolId pool = Catalog::kAny;
  std::int64_t nominal = 0;
  std::int64_t used = 0;
  std::int64_t pending = 0;  // what waiting workloads would be charged here
  std::int64_t leaving = 0;  // part of used
  std::optional<std::int64_t> borrowing_limit;
  std::int64_t lends = 0;
  std::int64_t cohort_lends = 0;  // all queues of the cohort together
  std::int64_t borrowed() const { return used > nominal ? used - nominal : 0; }
};

// The next cycle admits the workload, or the verdict says what it waits for.
struct Outcome {
  std::optional<PoolId> admitted_to;
  const Admission* admission = nullptr;  // of the survey's cycle
  Verdict verdict;
};

struct Waiting {
  const Workload* workload = nullptr;
  std::int64_t position = 0;  // in the queue's order, from 1
  Outcome outcome;
};

struct QueueReport {
  std::int64_t admitted = 0;  // workloads that do not wait for others to go
  // Waiting workloads, also those that wait for others to go.
  std::int64_t pending = 0;
  std::vector<QuotaReport> quotas;              // in the order of the spec
  std::map<std::string, std::int64_t> reasons;  // reason → number of waiting workloads
  std::optional<std::int64_t> oldest;           // microseconds since the epoch
  std::vector<Waiting> waiting;                 // the oldest first, at most as many as asked for
};

// The result of one cycle over the index, for all queues. It refers to the index, which must
// outlive it.
class Survey {
 public:
  // With terms, it also says which workloads the next cycle displaces.
  Survey(const FactsIndex& index, std::size_t most_waiting,
         std::optional<PreemptionTerms> terms = std::nullopt);

  // Returns null for a queue that the index does not know.
  const QueueReport* find(const std::string& queue) const;
  // `workload` is pending, or waits for others to go.
  Outcome outcome(const Workload& workload) const;
  const Cycle& cycle() const { return cycle_; }

 private:
  void report(const QueueQuotas& queue, std::size_t most_waiting, QueueReport& out) const;
  void count_pending(const QueueQuotas& queue, const PendingOfQueue& pending,
                     const std::vector<const Workload*>& for_others, QueueReport& out) const;
  std::vector<Waiting> oldest_of(const PendingOfQueue& pending,
                                 const std::vector<const Workload*>& for_others,
                                 std::size_t most) const;

  const FactsIndex& index_;
  QuotaTable quotas_;  // without what the cycle admits
  Cycle cycle_;
  std::map<const Workload*, const Admission*> admitted_;
  // Admitted workloads that wait for others to go, by queue.
  std::map<QueueId, std::vector<const Workload*>> for_others_;
  std::map<std::string, QueueReport> reports_;
};

// The reason of the outcome, and the sentence for it.
std::string reason_of(const Outcome& outcome);
std::string describe(const Outcome& outcome, const Catalog& catalog);

}  // namespace berth::queue
