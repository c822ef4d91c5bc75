// SPDX-License-Identifier: Apache-2.0
// PoolGrowth: which work a cycle may let go to nodes that an elastic pool is yet to get (rule 8).
// It counts in nodes: each is taken to be like the roomiest that the pool has, and to hold only
// pods that ask the same. So there is a place for each that is let go, with room to spare.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "controller/queue/facts_index.h"

namespace berth::queue {

class PoolGrowth {
 public:
  explicit PoolGrowth(const FactsIndex& index) : catalog_(index.catalog()), room_(index.room()) {}

  // Whether nodes to come would hold it besides all that is let go and pinned to none.
  bool holds(ClassId workloads, PoolId pool);
  // What is let go to the pool and pinned to no node.
  void take(ClassId workloads, PoolId pool);

  // Of nodes that may come, those that nobody waits for; nothing where the pool is not elastic.
  std::optional<std::int64_t> nodes_left(PoolId pool);

  // Whether something was taken since.
  bool is_less(PoolId pool) const;
  void look(PoolId pool);

 private:
  // Pods that wait for nodes, by what each asks: those that ask the same share nodes.
  struct Waiting {
    struct Alike {
      std::int64_t pods = 0;
      std::int64_t on_one_node = 0;  // the least for any of them
    };
    std::map<Vector, Alike> by_asks;
    std::int64_t nodes = 0;  // for all of them
    void add(const Vector& asks, std::int64_t pods, std::int64_t on_one_node);
  };
  struct Elastic {
    std::int64_t to_come = 0;
    bool has_nodes = false;                       // they show what those to come are like
    std::map<ShapeId, std::int64_t> on_one_node;  // pods of the shape; 0: none of its nodes has one
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
