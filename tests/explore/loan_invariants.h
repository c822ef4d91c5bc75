// SPDX-License-Identifier: Apache-2.0
// LoanInvariants: what is borrowed comes back in time, whatever borrowers do. Judged like the rest
// (invariants.h) on the store's truth:
//   Late      no Job waits for longer for what is its queue's own, and what others have borrowed,
//             than the notice, what budgets may take (reclaimTimeout), the pods' grace and some
//             cycles
// Who waits for that is reckoned by QueueDisplacements, which leaves out what has not run for its
// minimum time. Time counts while a process of berth's runs.
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

  // After the displacements have taken it. `runs`: a process of berth's, that may lead.
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
