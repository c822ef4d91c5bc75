// SPDX-License-Identifier: Apache-2.0
#include "controller/queue/facts/node_room.h"

#include <algorithm>
#include <utility>

#include "controller/queue/facts/capped.h"

namespace berth::queue {
namespace {

std::int64_t entry(const std::vector<std::int64_t>& by_resource, ResourceId resource) {
  return resource < by_resource.size() ? by_resource[resource] : 0;
}

void add(std::vector<std::int64_t>& by_resource, ResourceId resource, std::int64_t amount) {
  if (resource >= by_resource.size()) by_resource.resize(resource + 1);
  by_resource[resource] += amount;
}

void tally(std::map<std::int64_t, std::int64_t>& counts, std::int64_t value, std::int64_t by) {
  auto it = counts.try_emplace(value, 0).first;
  it->second += by;
  if (it->second == 0) counts.erase(it);
}

}  // namespace

NodeId NodeRoom::node(const std::string& name) {
  const NodeId id = catalog_.node(name);
  if (id >= nodes_.size()) nodes_.resize(id + 1);
  return id;
}

std::int64_t NodeRoom::Node::free(ResourceId resource) const {
  return std::max<std::int64_t>(0, left(resource));
}

std::int64_t NodeRoom::Node::left(ResourceId resource) const {
  return in_service ? entry(offers, resource) - entry(taken, resource) : 0;
}

std::int64_t NodeRoom::Node::left_of_bound(ResourceId resource) const {
  return in_service ? left(resource) + entry(pinned, resource) : 0;
}

bool NodeRoom::Node::is_overfull(ResourceId resource) const {
  return entry(taken, resource) > entry(offers, resource);
}

void NodeRoom::put(const TopologyFact& fact) { topology_ = fact; }

void NodeRoom::put(const ElasticFact& fact) {
  for (PerPool& pool : pools_) pool.max_nodes.reset();
  for (const auto& [name, nodes] : fact.max_nodes) at(catalog_.pool(name)).max_nodes = nodes;
}

void NodeRoom::refuse(RulesId rules, const std::string& node, bool refused) {
  if (rules >= refused_.size()) refused_.resize(rules + 1);
  std::vector<bool>& by_node = refused_[rules];
  const NodeId id = this->node(node);
  if (id >= by_node.size()) by_node.resize(nodes_.size());
  by_node[id] = refused;
}

bool NodeRoom::refuses(NodeId id, RulesId rules) const {
  return rules < refused_.size() && id < refused_[rules].size() && refused_[rules][id];
}

const std::vector<NodeId>& NodeRoom::in_order() const {
  if (std::exchange(is_in_order_, true)) return in_order_;
  in_order_.clear();
  for (NodeId id = 0; id < nodes_.size(); ++id) {
    if (nodes_[id].known) in_order_.push_back(id);
  }
  std::ranges::sort(in_order_, {}, [&](NodeId id) -> const std::string& { return node_name(id); });
  return in_order_;
}

bool NodeRoom::put(const NodeFact& fact) {
  const NodeId id = node(fact.name);
  Vector weights;
  for (const auto& [name, weight] : fact.gpu_weights)
    weights.emplace_back(catalog_.resource(name), weight);
  std::sort(weights.begin(), weights.end());
  std::vector<std::int64_t> offers;
  for (const auto& [name, amount] : fact.offers) add(offers, catalog_.resource(name), amount);
  const PoolId pool = fact.pool.empty() ? Catalog::kAny : catalog_.pool(fact.pool);
  std::vector<DomainId> domains;
  std::vector<std::string> path;
  for (const std::string& value : fact.domains) {
    path.push_back(value);
    domains.push_back(value.empty() ? Catalog::kNoDomain : catalog_.domain(path));
  }

  Node& at = nodes_[id];
  const bool moved = !at.known || at.pool != pool || at.weights != weights;
  const auto count_all = [&](std::int64_t sign) {
    if (!at.known) return;
    this->at(at.pool).nodes += sign;
    for (ResourceId r = 0; r < at.offers.size(); ++r) count(at, r, sign);
    count_weights(at, sign);
    count_class(at, sign);
  };
  count_all(-1);
  is_in_order_ = is_in_order_ && at.known;
  at.known = true;
  at.domains = std::move(domains);
  at.in_service = fact.in_service;
  at.one_numa_node = fact.one_numa_node;
  at.pool = pool;
  at.offers = std::move(offers);
  at.weights = std::move(weights);
  count_all(+1);
  return moved;
}

bool NodeRoom::remove(const std::string& name) {
  Node& at = nodes_[node(name)];
  if (!at.known) return false;
  --this->at(at.pool).nodes;
  for (ResourceId r = 0; r < at.offers.size(); ++r) count(at, r, -1);
  count_weights(at, -1);
  count_class(at, -1);
  at = Node{.taken = std::move(at.taken), .pinned = std::move(at.pinned)};
  is_in_order_ = false;
  return true;
}

void NodeRoom::take(NodeId node, ShapeId shape, std::int64_t pods) {
  Node& at = nodes_[node];
  for (const auto& [resource, amount] : catalog_.shape_requests(shape)) {
    const bool counted = at.known && resource < at.offers.size();
    if (counted) count(at, resource, -1);
    add(at.taken, resource,
        pods < 0 ? -capped_product(amount, -pods) : capped_product(amount, pods));
    if (counted) count(at, resource, +1);
  }
}

void NodeRoom::pin(NodeId node, ShapeId shape, std::int64_t pods) {
  take(node, shape, pods);
  for (const auto& [resource, amount] : catalog_.shape_requests(shape))
    add(nodes_[node].pinned, resource,
        pods < 0 ? -capped_product(amount, -pods) : capped_product(amount, pods));
}

void NodeRoom::claim(PoolId pool, ShapeId shape, std::int64_t pods) {
  for (const auto& [resource, amount] : catalog_.shape_requests(shape))
    at(pool, resource).claimed += capped_product(amount, pods);
  std::int64_t& count = at(pool).claimants[shape];
  count += pods;
  if (count == 0) at(pool).claimants.erase(shape);
}

const NodeRoom::PerResource* NodeRoom::find(PoolId pool, ResourceId resource) const {
  if (pool >= pools_.size() || resource >= pools_[pool].of.size()) return nullptr;
  return &pools_[pool].of[resource];
}

NodeRoom::PerPool& NodeRoom::at(PoolId pool) {
  if (pool >= pools_.size()) pools_.resize(pool + 1);
  return pools_[pool];
}

NodeRoom::PerResource& NodeRoom::at(PoolId pool, ResourceId resource) {
  std::vector<PerResource>& of = at(pool).of;
  if (resource >= of.size()) of.resize(resource + 1);
  return of[resource];
}

void NodeRoom::count(const Node& node, ResourceId resource, std::int64_t sign) {
  if (!node.in_service || node.offers[resource] == 0) return;
  const std::int64_t left =
      std::max<std::int64_t>(0, node.offers[resource] - entry(node.taken, resource));
  const auto count_in = [&](PoolId pool) {
    PerResource& of = at(pool, resource);
    of.offered += sign * node.offers[resource];
    of.free += sign * left;
    tally(of.nodes_by_free, left, sign);
  };
  count_in(Catalog::kAny);
  if (node.pool != Catalog::kAny) count_in(node.pool);
}

// Nodes out of service count too: a cordon must not change what a workload is charged.
void NodeRoom::count_weights(const Node& node, std::int64_t sign) {
  for (const auto& [resource, weight] : node.weights) {
    tally(at(Catalog::kAny, resource).nodes_by_weight, weight, sign);
    if (node.pool != Catalog::kAny) tally(at(node.pool, resource).nodes_by_weight, weight, sign);
  }
}

void NodeRoom::count_class(const Node& node, std::int64_t sign) {
  if (!node.in_service) return;
  for (const auto& [resource, weight] : node.weights) {
    const std::int64_t gpus = capped_product(entry(node.offers, resource), weight);
    at(Catalog::kAny, Catalog::kClass).offered += sign * gpus;
    if (node.pool != Catalog::kAny) at(node.pool, Catalog::kClass).offered += sign * gpus;
  }
}

std::int64_t NodeRoom::unclaimed(PoolId pool, ResourceId resource) const {
  const PerResource* of = find(pool, resource);
  std::int64_t left = of == nullptr ? 0 : of->free - of->claimed;
  // Pods that wait for nodes which the autoscaler may add take nothing from other pools.
  for (PoolId named = Catalog::kAny + 1; pool == Catalog::kAny && named < pools_.size(); ++named) {
    const PerResource* there = find(named, resource);
    if (there != nullptr) left -= std::min(there->free, there->claimed);
  }
  return left;
}

std::int64_t NodeRoom::offered(PoolId pool, ResourceId resource) const {
  const PerResource* of = find(pool, resource);
  return of == nullptr ? 0 : of->offered;
}

std::int64_t NodeRoom::largest(PoolId pool, ResourceId resource) const {
  const PerResource* of = find(pool, resource);
  return of == nullptr || of->nodes_by_free.empty() ? 0 : of->nodes_by_free.rbegin()->first;
}

std::int64_t NodeRoom::weight(PoolId pool, ResourceId resource) const {
  const PerResource* of = find(pool, resource);
  if (of == nullptr || of->nodes_by_weight.empty()) return kWholeGpu;
  return of->nodes_by_weight.rbegin()->first;
}

std::optional<std::int64_t> NodeRoom::nodes_to_come(PoolId pool) const {
  if (pool >= pools_.size() || !pools_[pool].max_nodes) return std::nullopt;
  return std::max<std::int64_t>(0, *pools_[pool].max_nodes - pools_[pool].nodes);
}

const std::map<ShapeId, std::int64_t>& NodeRoom::claimants(PoolId pool) const {
  static const std::map<ShapeId, std::int64_t> kNone;
  return pool < pools_.size() ? pools_[pool].claimants : kNone;
}

}  // namespace berth::queue
