// SPDX-License-Identifier: Apache-2.0
#include "tests/explore/loan_invariants.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tests/explore/look.h"

namespace berth::explore {
namespace {

using namespace std::chrono_literals;

// The longest grace period of the scenarios, a minute until pods hang and another until the entry
// is decided again, a new leader, and some cycles.
constexpr Duration kLoanPatience = 8min;
constexpr Duration kBetweenLooks = 15s;

}  // namespace

void LoanInvariants::take(const sim::Change& change, bool runs, Time wall,
                          std::chrono::nanoseconds news_takes) {
  const std::string_view plural = change.key.type->plural;
  // Other nodes or quotas restart the wait.
  if (!runs || plural == "nodes" || plural == "gpuqueues") {
    const bool same = runs && change.before != nullptr && change.after != nullptr &&
                      at(change.before.get(), {"spec"}) != nullptr &&
                      at(change.after.get(), {"spec"}) != nullptr &&
                      *at(change.before.get(), {"spec"}) == *at(change.after.get(), {"spec"});
    if (!same) since_.clear();
  }
  if (wall < look_at_) return;
  look_at_ = wall + kBetweenLooks;
  look(wall, news_takes);
}

Duration LoanInvariants::patience(const std::string& job) const {
  const QueueAccounts& accounts = displacements_.accounts();
  const GPUQueue* queue = accounts.queue(accounts.queue_for(*accounts.jobs().at(job)));
  if (queue == nullptr) return kLoanPatience;
  const QueuePreemption& rules = queue->spec.preemption;
  return kLoanPatience + rules.notice_period + rules.reclaim_timeout;
}

// While its entry waits for others to leave, these no longer count as borrowing.
void LoanInvariants::look(Time wall, std::chrono::nanoseconds news_takes) {
  const QueueAccounts& accounts = displacements_.accounts();
  const auto owed = displacements_.owed(wall);
  std::erase_if(since_, [&](const auto& of) {
    return !owed.contains(of.first) && !accounts.ledger().contains(of.first);
  });
  for (const auto& [uid, name] : owed) {
    const Time since = since_.try_emplace(uid, wall).first->second;
    if (wall - since > patience(name) + 2 * std::chrono::duration_cast<Duration>(news_takes))
      broken_.push_back(fmt::format(
          "Late: Job/{} has waited for its queue's own quota for {} s, and others have borrowed it",
          name, (wall - since) / 1s));
  }
}

}  // namespace berth::explore
