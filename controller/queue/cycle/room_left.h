// SPDX-License-Identifier: Apache-2.0
// RoomLeft: what a cycle may still hand out on the nodes: by pool (rule 3), and by node for pinned
// workloads (rule 8).
#pragma once

#include <optional>
#include <vector>

#include "controller/queue/cycle/gang_places.h"
#include "controller/queue/cycle/node_space.h"
#include "controller/queue/cycle/pool_growth.h"
#include "controller/queue/cycle/verdict.h"
#include "controller/queue/facts/facts_index.h"

namespace berth::queue {

struct Wanted {  // what a queue needs room for
  ClassId workloads = 0;
  PoolId pool = Catalog::kAny;
  TopologyWish topology;
  bool pinned = false;
  bool to_come = false;  // on nodes that the autoscaler may add; then it is not pinned
};

// A class without a topology wish has its queue's wish.
Wanted wanted_of(ClassId workloads, PoolId pool, const QueueFact& queue, const Catalog& catalog);

class RoomLeft {
 public:
  // With `outlook` (outlook.h), the largest node is computed from what is free then.
  explicit RoomLeft(const FactsIndex& index, bool outlook = false);

  bool fits(const Wanted& wanted);
  // Takes room for a workload that fits. If it is pinned, stands() returns its nodes afterwards. A
  // Job's pods may run on any of its nodes.
  void take(const Wanted& wanted);
  // Does the same on nodes that the caller has found.
  void take_at(const Wanted& wanted, const std::vector<Stand>& stands);
  // Reserves room for a workload that is not admitted yet; sign -1 gives it back.
  void hold(const Wanted& wanted, const std::vector<Stand>& stands, std::int64_t sign);
  // bind() replaces what was taken for the workload by its bound pods. unbind() frees these.
  void bind(const Wanted& wanted, const std::vector<Stand>& stands);
  void unbind(const std::vector<Stand>& stands);
  std::int64_t free_on(NodeId node, ResourceId resource);
  // Frees all that the workload holds, bound or not; sign -1 takes it again.
  void think_away(const Workload& workload, std::int64_t sign);
  void think_away(const Pod& pod, std::int64_t sign);  // the pod is on a node
  const std::vector<Stand>& stands() const { return stands_; }
  const std::optional<Narrower>& narrower() const { return narrower_; }
  // Whether a workload that did not fit in the pool may fit now: room has grown at some time since
  // forget_growth().
  bool has_grown(PoolId pool) const;
  void forget_growth() { grown_.assign(grown_.size(), false); }
  NodeId node(const Stand& stand) const { return space_.id(stand.rank); }
  // Explains why a workload does not fit.
  Verdict explain(const Wanted& wanted);

  // watch() notes a workload that fits. is_short() says whether the pool may have become too small
  // for one that is watched there.
  void watch(const Wanted& wanted);
  bool is_short(PoolId pool);
  void unwatch(PoolId pool);
  // For workloads that is_short() does not cover: as long as no pod is put on these nodes, the
  // workload still fits.
  void find_witnesses(const Wanted& wanted, std::vector<NodeId>& nodes);

 private:
  bool fits_in_pool(const Wanted& wanted);
  std::int64_t largest(PoolId pool, ResourceId resource);
  std::optional<Bounds> bounds_of(const Wanted& wanted) const;
  // Whether only the number of free places matters, and not on which nodes they are.
  bool is_plain(const Wanted& wanted) const;
  TallyKey tally_of(const Wanted& wanted) const;
  bool place(const Wanted& wanted, bool for_good = false);
  std::int64_t pods_of(const Wanted& wanted) const {
    return catalog_.class_facts(wanted.workloads).pods;
  }
  // Returns the number of its pods whose shape has a node with room for all that one pod requests.
  std::int64_t places_of_any(const Wanted& wanted);
  Verdict explain_room(const Wanted& wanted);
  Verdict explain_nodes(const Wanted& wanted);
  Verdict explain_unpinned(const Wanted& wanted);
  // Calls move(), which changes what is free on the node, and updates the sums of the pools.
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
  std::vector<std::int64_t> left_;  // by pool and resource
  // By pool and resource, the most that one watched workload requests.
  std::vector<std::int64_t> watched_;
  std::vector<bool> grown_;  // by pool
  bool shared_;              // claims of any pool count in every pool
  PoolGrowth growth_;
  NodeSpace space_;
  RoomTallies tallies_{space_};
  std::vector<Stand> stands_;
  std::optional<Narrower> narrower_;
};

}  // namespace berth::queue
