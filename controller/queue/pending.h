// SPDX-License-Identifier: Apache-2.0
// What waits, in rule 5's order: of each queue its ready workloads by class, and those that are not
// ready.
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
