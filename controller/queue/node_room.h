// SPDX-License-Identifier: Apache-2.0
// What nodes offer and what is free of it, by node and by pool, whom they refuse, and the domains
// that they are in. Pool "*" has all nodes. A node that is out of service offers nothing; one that
// is overfull has nothing free, and takes nothing away from others.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "controller/queue/catalog.h"

namespace berth::queue {

class NodeRoom {
 public:
  explicit NodeRoom(Catalog& catalog) : catalog_(catalog) {}

  // True if the node's pool or a weight changed: what is charged by where a pod is must be counted
  // anew.
  bool put(const NodeFact& fact);
  bool remove(const std::string& name);
  void put(const TopologyFact& fact);
  void put(const ElasticFact& fact);
  // Whether the node keeps pods with these rules away. Of those that were never said: it does not.
  void refuse(RulesId rules, const std::string& node, bool refused);
  // Of pods that are on the node; it need not be known yet.
  void take(NodeId node, ShapeId shape, std::int64_t pods);
  // Of admitted pods that are pinned to the node and not on it yet: they take its room as well.
  void pin(NodeId node, ShapeId shape, std::int64_t pods);
  // Admitted pods that may go to any node: they take room of their pool, and of all together what
  // the pool has free.
  void claim(PoolId pool, ShapeId shape, std::int64_t pods);

  NodeId node(const std::string& name);
  PoolId pool_of(NodeId node) const { return nodes_[node].pool; }  // kAny: of no pool, or not known

  // Free on the pool's nodes and not claimed; less than nothing where more is claimed than is free.
  std::int64_t unclaimed(PoolId pool, ResourceId resource) const;
  std::int64_t offered(PoolId pool, ResourceId resource) const;  // of kClass in millionths
  std::int64_t largest(PoolId pool, ResourceId resource) const;  // free on one node
  // How much of a GPU one piece is: where nodes differ the greatest, where none says so a whole
  // one.
  std::int64_t weight(PoolId pool, ResourceId resource) const;

  // How many nodes the pool may yet get; nothing where no autoscaler adds any.
  std::optional<std::int64_t> nodes_to_come(PoolId pool) const;
  // The pods of each shape that claim() has there.
  const std::map<ShapeId, std::int64_t>& claimants(PoolId pool) const;

  struct Node {
    bool known = false;
    bool in_service = false;
    bool one_numa_node = false;  // it says so
    PoolId pool = Catalog::kAny;
    std::vector<std::int64_t> offers;  // by resource
    std::vector<std::int64_t> taken;
    std::vector<std::int64_t> pinned;  // of that
    Vector weights;
    std::vector<DomainId> domains;  // by level; kNoDomain where it has no value
    std::int64_t free(ResourceId resource) const;
    std::int64_t left(ResourceId resource) const;  // likewise; less than nothing if overfull
    std::int64_t left_of_bound(ResourceId resource) const;  // as kube-scheduler sees it
    bool is_overfull(ResourceId resource) const;  // more is taken and pinned than it offers
  };
  const Node& node_at(NodeId id) const { return nodes_[id]; }
  std::size_t nodes() const { return nodes_.size(); }
  const std::string& node_name(NodeId id) const { return catalog_.node_name(id); }
  bool refuses(NodeId id, RulesId rules) const;
  const std::vector<std::string>& levels() const { return topology_.levels; }
  // Those that are known, by name.
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
