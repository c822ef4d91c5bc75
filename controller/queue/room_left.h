// SPDX-License-Identifier: Apache-2.0
// RoomLeft: what a cycle may still hand out on the nodes, by pool (rule 3) and, to workloads that
// are pinned, by node (rule 8).
#pragma once

#include <optional>
#include <vector>

#include "controller/queue/facts_index.h"
#include "controller/queue/gang_places.h"
#include "controller/queue/node_space.h"
#include "controller/queue/pool_growth.h"
#include "controller/queue/verdict.h"

namespace berth::queue {

struct Wanted {  // what a queue wants room for
  ClassId workloads = 0;
  PoolId pool = Catalog::kAny;
  TopologyWish topology;
  bool pinned = false;
  bool to_come = false;  // on nodes that the pool is yet to get: then it is not pinned
};

// A class without a topology wish has its queue's.
Wanted wanted_of(ClassId workloads, PoolId pool, const QueueFact& queue, const Catalog& catalog);

class RoomLeft {
 public:
  // Of an outlook (outlook.h) the largest node is the one that it would be then.
  explicit RoomLeft(const FactsIndex& index, bool outlook = false);

  bool fits(const Wanted& wanted);
  // What fits: takes its room. If it is pinned, stands() has its places afterwards. A Job's pods
  // may come to stand on any of its nodes.
  void take(const Wanted& wanted);
  // Likewise, where another has found places for it.
  void take_at(const Wanted& wanted, const std::vector<Stand>& stands);
  // Kept for it, as yet, or, sign being -1, for it no more.
  void hold(const Wanted& wanted, const std::vector<Stand>& stands, std::int64_t sign);
  // What was taken for it stands, pod by pod, where it has been bound, or stands there no more.
  void bind(const Wanted& wanted, const std::vector<Stand>& stands);
  void unbind(const std::vector<Stand>& stands);
  std::int64_t free_on(NodeId node, ResourceId resource);
  // What the workload holds, bound or not, is thought away or, sign being -1, is there again.
  void think_away(const Workload& workload, std::int64_t sign);
  void think_away(const Pod& pod, std::int64_t sign);  // that is on a node
  const std::vector<Stand>& stands() const { return stands_; }
  const std::optional<Narrower>& narrower() const { return narrower_; }
  // Whether what did not fit in the pool may fit by now, as there has been more room at some time
  // since forget_growth().
  bool has_grown(PoolId pool) const;
  void forget_growth() { grown_.assign(grown_.size(), false); }
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
  bool fits_in_pool(const Wanted& wanted);
  std::int64_t largest(PoolId pool, ResourceId resource);
  std::optional<Bounds> bounds_of(const Wanted& wanted) const;
  // Whether it fits if there is room for so many pods, wherever they stand.
  bool is_plain(const Wanted& wanted) const;
  TallyKey tally_of(const Wanted& wanted) const;
  bool place(const Wanted& wanted, bool for_good = false);
  std::int64_t pods_of(const Wanted& wanted) const {
    return catalog_.class_facts(wanted.workloads).pods;
  }
  // The number of its pods for whose shape a node has room, with all that one pod asks.
  std::int64_t places_of_any(const Wanted& wanted);
  Verdict explain_room(const Wanted& wanted);
  Verdict explain_nodes(const Wanted& wanted);
  Verdict explain_unpinned(const Wanted& wanted);
  // Calls move(), which changes what is free there, and follows it with the pools' sums.
  template <class Move>
  void on_node(const Stand& stand, Move move);
  void grow(PoolId pool) { grown_[pool] = grown_[Catalog::kAny] = true; }
  void claim(PoolId pool, const Vector& amounts, std::int64_t times);
  void change_left(PoolId pool, ResourceId resource, std::int64_t by);
  std::int64_t left(PoolId pool, ResourceId resource) const;

  const FactsIndex& index_;
  const Catalog& catalog_;
  const NodeRoom& room_;
  std::size_t resources_;
  bool outlook_;
  std::vector<std::int64_t> left_;     // by pool and resource
  std::vector<std::int64_t> watched_;  // the most that one of those asks, likewise
  std::vector<bool> grown_;            // by pool
  bool shared_;                        // something that may stand in any pool counts in all
  PoolGrowth growth_;
  NodeSpace space_;
  RoomTallies tallies_{space_};
  std::vector<Stand> stands_;
  std::optional<Narrower> narrower_;
};

}  // namespace berth::queue
