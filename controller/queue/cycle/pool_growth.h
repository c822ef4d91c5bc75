// SPDX-License-Identifier: Apache-2.0
// PoolGrowth: which workloads a cycle may release to nodes that the autoscaler may add to an
// elastic pool (rule 8). It counts in nodes. Each added node counts as the pool's largest node, and
// as holding only pods with equal requests. So every released workload has a place, with some to
// spare.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "controller/queue/facts/facts_index.h"

namespace berth::queue {

class PoolGrowth {
 public:
  explicit PoolGrowth(const FactsIndex& index) : catalog_(index.catalog()), room_(index.room()) {}

  // Whether the nodes to add would hold it in addition to all released workloads that are not
  // pinned.
  bool holds(ClassId workloads, PoolId pool);
  // Counts a workload that is released to the pool and not pinned.
  void take(ClassId workloads, PoolId pool);

  // Returns how many of the nodes to add no workload waits for; nothing if the pool is not elastic.
  std::optional<std::int64_t> nodes_left(PoolId pool);

  // Whether take() was called for the pool since the last look().
  bool is_less(PoolId pool) const;
  void look(PoolId pool);

 private:
  // Pods that wait for new nodes, by the requests of each pod. Pods with equal requests share
  // nodes.
  struct Waiting {
    struct Alike {
      std::int64_t pods = 0;
      std::int64_t on_one_node = 0;  // the least for any of them
    };
    std::map<Vector, Alike> by_asks;
    std::int64_t nodes = 0;  // needed for all of them
    void add(const Vector& asks, std::int64_t pods, std::int64_t on_one_node);
  };
  struct Elastic {
    std::int64_t to_come = 0;
    bool has_nodes = false;  // these show what a new node is like
    // Pods per node, by shape; 0: none of the pool's nodes takes one.
    std::map<ShapeId, std::int64_t> on_one_node;
    Waiting waiting;
    bool is_less = false;
  };
  Elastic* of(PoolId pool);
  std::int64_t on_one_node(Elastic& elastic, PoolId pool, ShapeId shape) const;
  void add(ShapeId shape, std::int64_t pods, PoolId pool, Elastic& elastic, Waiting& to) const;

  const Catalog& catalog_;
  const NodeRoom& room_;
  std::map<PoolId, Elastic> pools_;
};

}  // namespace berth::queue
