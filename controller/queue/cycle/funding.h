// SPDX-License-Identifier: Apache-2.0
// Funding: which running workloads of a queue are within its nominal quota (funded) and which have
// borrowed (rule 9). Leaving workloads count as gone. Workloads that hang or can't be given back
// hold quota before all others.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "controller/queue/cycle/quota_table.h"
#include "controller/queue/cycle/verdict.h"
#include "controller/queue/facts/facts_index.h"

namespace berth::queue {

// A running workload and its charges, by quota key.
using Charges = std::vector<std::pair<KeyId, std::int64_t>>;

struct Runner {
  const Workload* workload = nullptr;
  std::int32_t priority = 0;
  std::int64_t since = 0;
  Charges charges;
  bool fresh = false;           // admitted in this cycle
  bool holds_too_much = false;  // it is charged more than its record says
  bool funded = false;
};

class Funding {
 public:
  // Whether a workload that could stay does stay. Empty: each one stays.
  using Stays = std::function<bool(const Workload&)>;
  // `now` is the start time of admissions of this cycle, in microseconds since the epoch. All
  // arguments must outlive the object.
  Funding(const FactsIndex& index, const QuotaTable& quotas, std::int64_t now, const Stays& stays);

  // Returns the queue's workloads that can be given back, in the order in which they hold its
  // quota. The reference is valid until the next call of admitted() or taken_back().
  const std::vector<Runner>& of(QueueId queue);
  // Returns the queue's running workloads that can't be given back.
  std::vector<const Workload*> staying(QueueId queue) const;
  // Whether the workloads that can't be given back exceed a nominal quota that this workload is
  // charged to.
  bool is_beyond_nominal(const Workload& staying) const;
  // Whether a workload of this priority would be funded if it was admitted now.
  bool would_fund(QueueId queue, std::int32_t priority, const Charges& charges);
  // Whether a workload that is being taken back would be funded if it stayed.
  bool would_fund(const Workload& taken_back);
  // Returns the queues with running workloads in the cohort.
  std::vector<QueueId> queues_of(const std::string& cohort) const;

  // Notes what this cycle does.
  void admitted(const Admission& admission);
  void taken_back(const Workload& workload);
  const std::set<const Workload*>& displaced() const { return gone_; }
  bool is_gone(const Workload& workload) const;

 private:
  using Sums = std::map<KeyId, std::int64_t>;
  bool fits(QueueId queue, const Sums& sums, const Charges& charges) const;
  std::int64_t nominal(QueueId queue, KeyId key) const;
  Sums held_first(QueueId queue) const;
  std::vector<Runner> runners(QueueId queue) const;
  bool stays(const Workload& workload) const;

  const FactsIndex& index_;
  const QuotaTable& quotas_;
  std::int64_t now_;
  const Stays& stays_;
  mutable std::map<const Workload*, bool> known_to_stay_;
  std::map<QueueId, std::vector<Runner>> known_;
  std::map<QueueId, std::vector<Runner>> fresh_;
  std::set<const Workload*> gone_;
};

// Returns the queue that a running workload is charged to.
QueueId queue_of(const Workload& workload, const Catalog& catalog);

}  // namespace berth::queue
