// SPDX-License-Identifier: Apache-2.0
// NodeSpace: what a cycle may still hand out, node by node, and where pods would go (rule 8). It
// copies the nodes at first use. Room only shrinks in it, unless a caller frees what a workload
// holds.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "controller/queue/facts/capped.h"
#include "controller/queue/facts/facts_index.h"

namespace berth::queue {

// A set of nodes by rank in name order. The lowest bit is the first node by name.
class NodeSet {
 public:
  explicit NodeSet(std::size_t nodes = 0) : words_((nodes + 63) / 64) {}
  void add(std::uint32_t rank) { words_[rank / 64] |= std::uint64_t{1} << rank % 64; }
  void drop(std::uint32_t rank) { words_[rank / 64] &= ~(std::uint64_t{1} << rank % 64); }
  bool has(std::uint32_t rank) const { return words_[rank / 64] >> rank % 64 & 1; }
  // Nodes also in `other`, or those that are not.
  NodeSet within(const NodeSet& other, bool inside) const;
  const std::vector<std::uint64_t>& words() const { return words_; }

 private:
  std::vector<std::uint64_t> words_;
};

struct Stand {  // a number of pods of one shape on one node
  ShapeId shape = 0;
  std::uint32_t rank = 0;
  std::int64_t pods = 0;
};

struct LevelDomain {
  DomainId id = Catalog::kNoDomain;
  std::vector<std::uint32_t> ranks;
};

class NodeSpace {
 public:
  explicit NodeSpace(const FactsIndex& index);
  void open();  // prepares the copy, once; queries call it

  // Returns the best node for a single pod; nothing if no node has room for it.
  std::optional<std::uint32_t> find(ShapeId shape, PoolId pool);
  // Calls found(rank) for the pool's nodes that have room for one pod and devices for `pods`, best
  // first, until it returns false. The caller must not take room meanwhile.
  template <class Found>
  void each_with_room(ShapeId shape, PoolId pool, std::int64_t pods, Found found);

  // Returns how many more pods of the shape fit on the node.
  std::int64_t fits(std::uint32_t rank, ShapeId shape) const;
  // Does the same for a Job of `pods` pods. Until they are bound, kube-scheduler may put any number
  // of them on the node, now or when others end. So if pods are pinned to the node and not bound
  // yet, all the Job's pods must fit beside them.
  std::int64_t fits_of_job(std::uint32_t rank, ShapeId shape, std::int64_t pods) const;
  // Whether the empty node would take the pod, and whether any node of the pool would.
  bool allows(std::uint32_t rank, ShapeId shape);
  bool allows_any(ShapeId shape, PoolId pool);
  // Whether the pod requests several devices and the node's labels do not say that it has one NUMA
  // node. Among nodes with equally much free, such a node comes last.
  bool may_split(std::uint32_t rank, ShapeId shape) const {
    return catalog_.device_amount(shape) > 1 && !one_numa_.has(rank);
  }

  void take(const Stand& stand);
  // Frees what is on the node, bound or not; sign -1 takes it again. It ignores nodes out of
  // service.
  void think_away(const Stand& stand, bool bound, std::int64_t sign);
  // A trial that is given back leaves no trace in taken_from().
  void try_on(const Stand& stand) { move(stand, +1); }
  void give_back(const Stand& stand) { move(stand, -1); }
  const std::vector<std::uint32_t>& taken_from() const { return taken_from_; }

  std::int64_t free(std::uint32_t rank, ResourceId resource) const {
    return std::max<std::int64_t>(0, free_[rank * resources_ + resource]);
  }
  std::size_t nodes();
  std::size_t levels() const { return room_.levels().size(); }
  // Returns the domains of the level in no order. Nodes without a value form a domain of their own.
  const std::vector<LevelDomain>& domains(std::size_t level);
  bool is_in(std::uint32_t rank, PoolId pool) const { return pools_[pool].has(rank); }
  const NodeRoom::Node& node_at(std::uint32_t rank) const { return room_.node_at(id(rank)); }
  NodeId id(std::uint32_t rank) const { return room_.in_order()[rank]; }
  std::optional<std::uint32_t> rank_of(NodeId node);       // nothing for a node out of service
  std::int64_t largest(PoolId pool, ResourceId resource);  // the most that is free on one node

 private:
  using Shelf = std::map<std::int64_t, NodeSet>;  // by free amount of one resource
  struct Allowed {
    NodeSet nodes;
    NodeSet candidates;  // of these, nodes that may still have room
  };
  Allowed& allowed(ShapeId shape);
  Shelf& shelf(ResourceId device);
  // Calls found(rank) for the shelf's nodes with room until it returns false.
  template <class Found>
  bool look_at(const NodeSet& shelf, ShapeId shape, PoolId pool, NodeSet& among,
               Found& found) const;
  void move(const Stand& stand, std::int64_t sign);

  const Catalog& catalog_;
  const NodeRoom& room_;
  std::size_t resources_ = 0;
  bool is_open_ = false;
  std::vector<std::int64_t> free_;  // by rank and resource; negative if overfull
  // The amounts that bound pods have freed.
  std::map<std::pair<std::uint32_t, ResourceId>, std::int64_t> unbound_;
  std::vector<std::optional<std::uint32_t>> rank_of_;  // by node
  std::vector<NodeSet> pools_;                         // nodes in service
  // Nodes whose labels say one NUMA node.
  NodeSet one_numa_;
  bool some_one_numa_ = false;
  std::map<ShapeId, Allowed> allowed_;
  std::map<ResourceId, Shelf> shelves_;
  std::vector<std::vector<LevelDomain>> domains_;  // by level
  std::vector<std::uint32_t> taken_from_;          // in order, repeated as often as room was taken
};

// A node without room for the shape will have none later, so it is skipped from then on.
template <class Found>
bool NodeSpace::look_at(const NodeSet& shelf, ShapeId shape, PoolId pool, NodeSet& among,
                        Found& found) const {
  const auto& on_shelf = shelf.words();
  const auto& in_pool = pools_[pool].words();
  for (std::uint32_t word = 0; word < on_shelf.size(); ++word) {
    std::uint64_t left = on_shelf[word] & in_pool[word] & among.words()[word];
    for (; left != 0; left &= left - 1) {
      const std::uint32_t rank = word * 64 + static_cast<std::uint32_t>(std::countr_zero(left));
      if (fits(rank, shape) == 0)
        among.drop(rank);
      else if (!found(rank))
        return false;
    }
  }
  return true;
}

template <class Found>
void NodeSpace::each_with_room(ShapeId shape, PoolId pool, std::int64_t pods, Found found) {
  NodeSet& among = allowed(shape).candidates;
  const Shelf& by_free = shelf(catalog_.shape_device(shape));
  const bool several = some_one_numa_ && catalog_.device_amount(shape) > 1;
  for (auto it = by_free.lower_bound(capped_product(catalog_.device_amount(shape), pods));
       it != by_free.end(); ++it) {
    if (!several) {
      if (!look_at(it->second, shape, pool, among, found)) return;
    } else {
      for (const bool inside : {true, false})
        if (!look_at(it->second.within(one_numa_, inside), shape, pool, among, found)) return;
    }
  }
}

}  // namespace berth::queue
