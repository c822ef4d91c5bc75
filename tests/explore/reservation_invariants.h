// SPDX-License-Identifier: Apache-2.0
// ReservationInvariants: what must hold for reservations for a queue's head that has waited long
// (rule 11 of docs/queue-rules.md), checked like the others (invariants.h) on the store's truth:
//   Reserved  workloads without an end that are released past such a head, after its queue's
//             reserveAfter, leave enough of the pool for the head
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apis/base/time.h"
#include "controller/queue/facts/facts.h"
#include "controller/sim/world/store.h"
#include "tests/explore/queue_accounts.h"

namespace berth::explore {

class ReservationInvariants {
 public:
  // `accounts` must have taken each change before this does, and must outlive it.
  explicit ReservationInvariants(const QueueAccounts& accounts) : accounts_(accounts) {}

  void take(const sim::Change& change, bool by_berth, std::chrono::nanoseconds news_takes);
  const std::vector<std::string>& broken() const { return broken_; }

 private:
  void judge_entry(const queue::LedgerFact& entry, std::chrono::nanoseconds news_takes);
  bool is_younger(const std::string& workload, const nlohmann::json& head) const;
  // Null: no workload is pending there.
  const nlohmann::json* head_of(const std::string& queue) const;
  std::int64_t offered(const std::string& pool) const;
  // Whether it has an enforced end.
  bool is_ended(const std::string& workload) const;

  const QueueAccounts& accounts_;
  std::vector<std::string> broken_;
};

}  // namespace berth::explore
