// SPDX-License-Identifier: Apache-2.0
// NodeRoom: what nodes offer and what is free, by node and by pool; which pods each node refuses;
// and the domains of each node. Pool "*" has all nodes. A node out of service offers nothing. An
// overfull node has nothing free, and does not reduce what others have.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "controller/queue/facts/catalog.h"

namespace berth::queue {

class NodeRoom {
 public:
  explicit NodeRoom(Catalog& catalog) : catalog_(catalog) {}

  // Returns true if the node's pool or a GPU weight changed. Then charges that depend on where a
  // pod is must be recomputed.
  bool put(const NodeFact& fact);
  bool remove(const std::string& name);
  void put(const TopologyFact& fact);
  void put(const ElasticFact& fact);
  // Whether the node refuses pods with these rules. The default is that it does not.
  void refuse(RulesId rules, const std::string& node, bool refused);
  // Takes room for pods on the node, which may be unknown yet. A negative number gives room back.
  void take(NodeId node, ShapeId shape, std::int64_t pods);
  // Takes room for admitted pods that are pinned to the node and not on it yet.
  void pin(NodeId node, ShapeId shape, std::int64_t pods);
  // Takes room in the pool for admitted pods that may go to any of its nodes.
  void claim(PoolId pool, ShapeId shape, std::int64_t pods);

  NodeId node(const std::string& name);
  PoolId pool_of(NodeId node) const { return nodes_[node].pool; }  // kAny: of no pool, or not known

  // Returns what is free on the pool's nodes and not claimed. Negative if claims exceed it.
  std::int64_t unclaimed(PoolId pool, ResourceId resource) const;
  std::int64_t offered(PoolId pool, ResourceId resource) const;  // kClass is in millionths of a GPU
  // The most that is free on one node.
  std::int64_t largest(PoolId pool, ResourceId resource) const;
  // Returns what part of a GPU one piece is, in millionths. If nodes differ, the greatest counts.
  // If no node says so, it is a whole GPU.
  std::int64_t weight(PoolId pool, ResourceId resource) const;

  // Returns how many nodes the autoscaler may add to the pool; nothing if none does.
  std::optional<std::int64_t> nodes_to_come(PoolId pool) const;
  // Returns the number of claimed pods of each shape in the pool.
  const std::map<ShapeId, std::int64_t>& claimants(PoolId pool) const;

  struct Node {
    bool known = false;
    bool in_service = false;
    bool one_numa_node = false;  // the node's labels say so
    PoolId pool = Catalog::kAny;
    std::vector<std::int64_t> offers;  // by resource
    std::vector<std::int64_t> taken;
    std::vector<std::int64_t> pinned;  // part of taken
    Vector weights;
    std::vector<DomainId> domains;  // by level; kNoDomain where the node has no value
    std::int64_t free(ResourceId resource) const;
    // Like free(), but negative if the node is overfull.
    std::int64_t left(ResourceId resource) const;
    // What bound pods leave, as kube-scheduler sees it.
    std::int64_t left_of_bound(ResourceId resource) const;
    bool is_overfull(ResourceId resource) const;  // more is taken and pinned than it offers
  };
  const Node& node_at(NodeId id) const { return nodes_[id]; }
  std::size_t nodes() const { return nodes_.size(); }
  const std::string& node_name(NodeId id) const { return catalog_.node_name(id); }
  bool refuses(NodeId id, RulesId rules) const;
  const std::vector<std::string>& levels() const { return topology_.levels; }
  // Returns the known nodes, by name.
  const std::vector<NodeId>& in_order() const;

 private:
  struct PerResource {
    std::int64_t offered = 0;
    std::int64_t free = 0;
    std::int64_t claimed = 0;
    std::map<std::int64_t, std::int64_t> nodes_by_free;
    std::map<std::int64_t, std::int64_t> nodes_by_weight;
  };
  struct PerPool {
    std::vector<PerResource> of;  // by resource
    std::map<ShapeId, std::int64_t> claimants;
    std::int64_t nodes = 0;  // in service or not
    std::optional<std::int64_t> max_nodes;
  };
  const PerResource* find(PoolId pool, ResourceId resource) const;
  PerPool& at(PoolId pool);
  PerResource& at(PoolId pool, ResourceId resource);
  void count(const Node& node, ResourceId resource, std::int64_t sign);
  void count_weights(const Node& node, std::int64_t sign);
  void count_class(const Node& node, std::int64_t sign);

  Catalog& catalog_;
  TopologyFact topology_;
  std::vector<Node> nodes_;
  std::vector<std::vector<bool>> refused_;  // by rules and node
  mutable std::vector<NodeId> in_order_;
  mutable bool is_in_order_ = true;
  std::vector<PerPool> pools_;
};

}  // namespace berth::queue
