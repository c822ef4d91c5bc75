// SPDX-License-Identifier: Apache-2.0
// PlayedPods: what becomes of pods. The kubelet ends them gracefully, a ReplicaSet or Job makes
// another in place of each, and the scheduler binds those that wait where they fit.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "controller/core/plan.h"
#include "tests/mig/memory_cluster.h"

namespace berth::test {

class PlayedPods {
 public:
  // Two seconds of grace; a pod that is going already goes when it would have.
  void remove_gracefully(MemoryCluster& world, const ObjectRef& pod);

  // Ends the pods due by now and binds at most one. True if anything changed.
  bool run(MemoryCluster& world);
  std::optional<Time> next_due() const;

 private:
  void replace(MemoryCluster& world, const Pod& gone);

  std::map<std::string, Time> dying_;  // namespace/name → when its object goes
  int spawned_ = 0;
};

}  // namespace berth::test
