// SPDX-License-Identifier: Apache-2.0
// What waits, in rule 5's order: of each queue its ready workloads by class, those that are not
// ready, and those that are left out, which are in nobody's way.
#pragma once

#include <map>
#include <set>

#include "controller/queue/workload.h"

namespace berth::queue {

using InOrder = std::set<const Workload*, ByTurn>;

struct SameClass {
  InOrder in_order;
  Turn first;  // of the first: a cycle in which nothing fits looks at no workload
};

struct PendingOfQueue {
  std::map<ClassId, SameClass> ready;
  InOrder unready;
  InOrder left_out;

  bool empty() const { return ready.empty() && unready.empty() && left_out.empty(); }
  // Where it stands, of what is not ready.
  InOrder& place_of(const Workload& workload) {
    const Unready why = workload.standing.unready;
    return why == Unready::kNeverReady || why == Unready::kNewerRecord ? left_out : unready;
  }
};

class Pending {
 public:
  void add(const Workload& workload);
  void remove(const Workload& workload);
  const std::map<QueueId, PendingOfQueue>& by_queue() const { return by_queue_; }

 private:
  std::map<QueueId, PendingOfQueue> by_queue_;
};

}  // namespace berth::queue
