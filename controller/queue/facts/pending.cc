// SPDX-License-Identifier: Apache-2.0
#include "controller/queue/facts/pending.h"

namespace berth::queue {

void Pending::add(const Workload& workload) {
  const Standing& standing = workload.standing;
  PendingOfQueue& of = by_queue_[standing.queue];
  if (standing.unready == Unready::kNo) {
    SameClass& same = of.ready[standing.workload_class];
    same.in_order.insert(&workload);
    same.first = Turn(**same.in_order.begin());
  } else {
    of.place_of(workload).insert(&workload);
  }
}

void Pending::remove(const Workload& workload) {
  const Standing& standing = workload.standing;
  auto queue = by_queue_.find(standing.queue);
  if (standing.unready == Unready::kNo) {
    auto same = queue->second.ready.find(standing.workload_class);
    same->second.in_order.erase(&workload);
    if (same->second.in_order.empty())
      queue->second.ready.erase(same);
    else
      same->second.first = Turn(**same->second.in_order.begin());
  } else {
    queue->second.place_of(workload).erase(&workload);
  }
  if (queue->second.empty()) by_queue_.erase(queue);
}

}  // namespace berth::queue
