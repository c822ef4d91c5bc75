// SPDX-License-Identifier: Apache-2.0
// Funding: which of a queue's running work is funded by its nominal quota, and which is borrowed
// (rule 9). Leaving work counts as gone. Work that hangs and work that can't be given back hold
// quota before all others.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "controller/queue/facts_index.h"
#include "controller/queue/quota_table.h"
#include "controller/queue/verdict.h"

namespace berth::queue {

// By quota key, what somebody is charged.
using Charges = std::vector<std::pair<KeyId, std::int64_t>>;

struct Runner {
  const Workload* workload = nullptr;
  std::int32_t priority = 0;
  std::int64_t since = 0;
  Charges charges;
  bool fresh = false;           // admitted in this cycle
  bool holds_too_much = false;  // more than its record says
  bool funded = false;
};

class Funding {
 public:
  // Whether work that could stay does; empty: each does.
  using Stays = std::function<bool(const Workload&)>;
  // `now`: when what this cycle admits is said to begin. All must outlive it.
  Funding(const FactsIndex& index, const QuotaTable& quotas, std::int64_t now, const Stays& stays);

  // Those of the queue that can be given back, those first that hold its quota first. Until it is
  // told of more.
  const std::vector<Runner>& of(QueueId queue);
  // Those of it that run and can't.
  std::vector<const Workload*> staying(QueueId queue) const;
  // Whether what can't be given back is more than the nominal quota that this one is charged to.
  bool is_beyond_nominal(const Workload& staying) const;
  // Whether one of that priority, admitted now, would be funded.
  bool would_fund(QueueId queue, std::int32_t priority, const Charges& charges);
  // Whether this one is, which is being taken back, if it were not.
  bool would_fund(const Workload& taken_back);
  // The queues that have work in the cohort.
  std::vector<QueueId> queues_of(const std::string& cohort) const;

  // What this cycle does.
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

// The queue that a running workload is charged to.
QueueId queue_of(const Workload& workload, const Catalog& catalog);

}  // namespace berth::queue
