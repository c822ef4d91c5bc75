// SPDX-License-Identifier: Apache-2.0
// A cycle that looks ahead: what ends gives back what it held, others come, and all that waits is
// offered again.
#include <algorithm>
#include <limits>

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
  decide(std::numeric_limits<std::size_t>::max());  // its tries bound it
}

void Cycle::arrive(const Workload& workload) {
  QueueQuotas* queue = quotas_.find(workload.standing.queue);
  if (queue == nullptr || queue->fact->held) return;
  const auto found = std::ranges::find(offers_, queue, &Offer::queue);
  Offer& offer = found != offers_.end() ? *found : new_offer(*queue);
  offer.arrived[workload.standing.workload_class].insert(&workload);
}

void Cycle::list_arrived(Offer& offer) {
  for (const auto& [workloads, same] : offer.arrived)
    if (!same.empty())
      offer.heads.push_back({Turn(**same.begin()), same.begin(), same.end(), workloads, true});
}

bool Cycle::has_more() const {
  return may_try() && std::ranges::any_of(offers_, [](const Offer& offer) {
           return !offer.heads.empty() || offer.has_failed;
         });
}

}  // namespace berth::queue
