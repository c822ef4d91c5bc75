// SPDX-License-Identifier: Apache-2.0
// ReservationInvariants: what must hold of what is kept for a queue's head that has waited for
// long (rule 11 of docs/queue-rules.md), judged like the rest (invariants.h) on the store's truth:
//   Reserved  what nobody ends, and is let go past a head that has waited for longer than its
//             queue's reserveAfter, leaves as much of the pool as the head asks for
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
  // `accounts` has taken each change before this does, and outlives it.
  explicit ReservationInvariants(const QueueAccounts& accounts) : accounts_(accounts) {}

  void take(const sim::Change& change, bool by_berth, std::chrono::nanoseconds news_takes);
  const std::vector<std::string>& broken() const { return broken_; }

 private:
  void judge_entry(const queue::LedgerFact& entry, std::chrono::nanoseconds news_takes);
  bool is_younger(const std::string& workload, const nlohmann::json& head) const;
  // Null: nobody waits there.
  const nlohmann::json* head_of(const std::string& queue) const;
  std::int64_t offered(const std::string& pool) const;
  // Whether somebody ends it, whatever it does.
  bool is_ended(const std::string& workload) const;

  const QueueAccounts& accounts_;
  std::vector<std::string> broken_;
};

}  // namespace berth::explore
