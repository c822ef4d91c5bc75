// SPDX-License-Identifier: Apache-2.0
// OwnerInvariants: what must hold of the controllers of pods that berth evicts, judged like the
// rest (invariants.h) on the store's truth:
//   Owner     no job of a framework fails because berth has evicted or deleted a pod of it
// The job also fails if another actor takes a pod away, or a pod fails by itself. So the invariant
// judges only jobs of which berth alone has taken a bound pod.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "controller/sim/world/store.h"

namespace berth::explore {

class OwnerInvariants {
 public:
  void take(const sim::Change& change, bool by_berth);

  const std::vector<std::string>& broken() const { return broken_; }

 private:
  void take_pod(const sim::Change& change, bool by_berth);
  void take_job(const sim::Change& change);

  std::set<std::string> taken_;   // uids of jobs of which berth has taken a pod
  std::set<std::string> others_;  // of which another actor has taken one, or one failed by itself
  std::vector<std::string> broken_;
};

}  // namespace berth::explore
