// SPDX-License-Identifier: Apache-2.0
// OwnerInvariants: what must hold for the controllers of pods that berth evicts, checked like the
// others (invariants.h) on the store's truth:
//   Owner     no job of a framework fails because berth has evicted or deleted a pod of it
// A job also fails if another actor removes a pod, or a pod fails by itself. Therefore this checks
// only jobs of which berth alone has removed a bound pod.
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

  std::set<std::string> taken_;   // uids of jobs of which berth has removed a pod
  std::set<std::string> others_;  // of which another actor has removed a pod, or a pod failed
  std::vector<std::string> broken_;
};

}  // namespace berth::explore
