// SPDX-License-Identifier: Apache-2.0
// LoanInvariants: borrowed quota is reclaimed in time, whatever borrowers do. Checked like the
// others (invariants.h) on the store's truth:
//   Late      no Job waits for its queue's own quota, which others have borrowed, longer than the
//             notice, the time for budgets (reclaimTimeout), the pods' grace period and some cycles
// QueueDisplacements computes which Jobs wait for this; it ignores workloads within their minimum
// run time. Time counts only while a process of berth runs.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "apis/base/time.h"
#include "controller/sim/world/store.h"
#include "tests/explore/queue_displacements.h"

namespace berth::explore {

class LoanInvariants {
 public:
  explicit LoanInvariants(const QueueDisplacements& displacements)
      : displacements_(displacements) {}

  // Call this after QueueDisplacements. `runs`: a process of berth runs that may lead.
  void take(const sim::Change& change, bool runs, Time wall, std::chrono::nanoseconds news_takes);
  const std::vector<std::string>& broken() const { return broken_; }

 private:
  void look(Time wall, std::chrono::nanoseconds news_takes);
  Duration patience(const std::string& job) const;

  const QueueDisplacements& displacements_;
  std::map<std::string, Time> since_;  // by the Job's uid
  Time look_at_{};
  std::vector<std::string> broken_;
};

}  // namespace berth::explore
