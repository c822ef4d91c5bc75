// SPDX-License-Identifier: Apache-2.0
// RoomLeft: what a cycle may still hand out on the nodes, by pool (rule 4).
#pragma once

#include <vector>

#include "controller/queue/facts_index.h"
#include "controller/queue/verdict.h"

namespace berth::queue {

class RoomLeft {
 public:
  explicit RoomLeft(const FactsIndex& index);

  bool fits(ClassId workloads, PoolId pool) const;
  // Of workloads that do not fit.
  Verdict explain(ClassId workloads, PoolId pool) const;
  void take(ClassId workloads, PoolId pool);

  // Whether the pool may have become too small for some of those that are watched there.
  void watch(ClassId workloads, PoolId pool);
  bool is_short(PoolId pool) const;
  void unwatch(PoolId pool);

 private:
  std::int64_t left(PoolId pool, ResourceId resource) const;

  const Catalog& catalog_;
  const NodeRoom& room_;
  std::size_t resources_;
  std::vector<std::int64_t> left_;     // by pool and resource
  std::vector<std::int64_t> watched_;  // the most that one of those asks, likewise
};

}  // namespace berth::queue
