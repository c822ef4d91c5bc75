// SPDX-License-Identifier: Apache-2.0
// Pending: the waiting workloads of each queue in rule 5's order: ready ones by class, those that
// are not ready, and those that are left out and block no other workload.
#pragma once

#include <map>
#include <set>

#include "controller/queue/facts/workload.h"

namespace berth::queue {

using InOrder = std::set<const Workload*, ByTurn>;

struct SameClass {
  InOrder in_order;
  Turn first;  // of the first workload, so that a cycle in which nothing fits reads no workload
};

struct PendingOfQueue {
  std::map<ClassId, SameClass> ready;
  InOrder unready;
  InOrder left_out;

  bool empty() const { return ready.empty() && unready.empty() && left_out.empty(); }
  // Returns the set for a workload that is not ready.
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
