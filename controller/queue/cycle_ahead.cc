// SPDX-License-Identifier: Apache-2.0
// A cycle that looks ahead: what ends gives back what it held, and all that waits is offered again.
#include <algorithm>

#include "controller/queue/cycle.h"

namespace berth::queue {

void Cycle::end(const Workload& running) {
  for (const Charge& charge : running.standing.charges) quotas_.use(charge, -1);
  room_.think_away(running, +1);
}

void Cycle::end(std::size_t admitted) {
  const Taken& taken = taken_[admitted];
  QueueQuotas& queue = *quotas_.find(taken.queue);
  for (const auto& [key, amount] : admissions_[admitted].amounts)
    std::ranges::find(queue.quotas, key, &Quota::key)->use(-amount);
  if (taken.wanted.pinned)
    room_.unbind(taken.stands);
  else
    room_.hold(taken.wanted, taken.stands, -1);
}

// Until then all of a Job's pods count on each of its nodes.
void Cycle::bind(std::size_t admitted) {
  const Taken& taken = taken_[admitted];
  if (taken.wanted.pinned) room_.bind(taken.wanted, taken.stands);
}

void Cycle::run_again() {
  entries_.clear();
  blocked_.clear();
  for (Offer& offer : offers_) {
    list_heads(offer);
    put_forward(offer);
  }
  decide(index_.workloads().size());
}

bool Cycle::has_more() const {
  return may_try() && std::ranges::any_of(offers_, [](const Offer& offer) {
           return !offer.heads.empty() || offer.has_failed;
         });
}

}  // namespace berth::queue
