// SPDX-License-Identifier: Apache-2.0
// RoomLeft: what a cycle may still hand out on the nodes, by pool (rule 3) and, to workloads that
// are pinned, by node (rule 8).
#pragma once

#include <optional>
#include <vector>

#include "controller/queue/facts_index.h"
#include "controller/queue/gang_places.h"
#include "controller/queue/node_space.h"
#include "controller/queue/verdict.h"

namespace berth::queue {

struct Wanted {  // what a queue wants room for
  ClassId workloads = 0;
  PoolId pool = Catalog::kAny;
  TopologyWish topology;
  bool pinned = false;
};

class RoomLeft {
 public:
  explicit RoomLeft(const FactsIndex& index);

  bool fits(const Wanted& wanted);
  // What fits: takes its room. If it is pinned, stands() has its places afterwards. A Job's pods
  // may come to stand on any of its nodes.
  void take(const Wanted& wanted);
  const std::vector<Stand>& stands() const { return stands_; }
  NodeId node(const Stand& stand) const { return space_.id(stand.rank); }
  // Of workloads that do not fit.
  Verdict explain(const Wanted& wanted);

  // Whether the pool may have become too small for some of those that are watched there, which fit
  // in it then.
  void watch(const Wanted& wanted);
  bool is_short(PoolId pool);
  void unwatch(PoolId pool);
  // Of what is not told so: as long as no pod is put on these nodes, it fits.
  void find_witnesses(const Wanted& wanted, std::vector<NodeId>& nodes);

 private:
  bool fits_in_pool(const Wanted& wanted) const;
  std::optional<Bounds> bounds_of(const Wanted& wanted) const;
  // Whether it fits if there is room for so many pods, wherever they stand.
  bool is_plain(const Wanted& wanted) const;
  TallyKey tally_of(const Wanted& wanted) const;
  bool place(const Wanted& wanted);
  Verdict explain_nodes(const Wanted& wanted);
  void take_on_node(const Stand& stand, std::int64_t pods);
  std::int64_t left(PoolId pool, ResourceId resource) const;

  const FactsIndex& index_;
  const Catalog& catalog_;
  const NodeRoom& room_;
  std::size_t resources_;
  std::vector<std::int64_t> left_;     // by pool and resource
  std::vector<std::int64_t> watched_;  // the most that one of those asks, likewise
  NodeSpace space_;
  RoomTallies tallies_{space_};
  std::vector<Stand> stands_;
};

}  // namespace berth::queue
