// SPDX-License-Identifier: Apache-2.0
// Remakers: who makes pods anew that are evicted, asked of one pod after the other. An eviction
// counts as a failure of the Job that made the pod, and a Job can stand only so many.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "controller/core/cluster_state.h"

namespace berth::queue {

class Remakers {
 public:
  explicit Remakers(const ClusterState& cluster) : cluster_(cluster) {}
  // Why the pod has to stay. Empty: its controller makes it anew.
  std::string why_not(const berth::Pod& pod);

 private:
  const ClusterState& cluster_;
  std::map<const berth::Job*, std::int64_t> failures_;
};

}  // namespace berth::queue
