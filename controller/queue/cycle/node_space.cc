// SPDX-License-Identifier: Apache-2.0
// A pod's best node is the one with the least free of its device that has room for it. Nodes with
// equally much free are one set (a shelf), so that a few words of bits give the first one by name.
#include "controller/queue/cycle/node_space.h"

#include <limits>
#include <utility>

namespace berth::queue {

NodeSet NodeSet::within(const NodeSet& other, bool inside) const {
  NodeSet out = *this;
  for (std::size_t word = 0; word < words_.size(); ++word)
    out.words_[word] &= inside ? other.words_[word] : ~other.words_[word];
  return out;
}

NodeSpace::NodeSpace(const FactsIndex& index) : catalog_(index.catalog()), room_(index.room()) {}

void NodeSpace::open() {
  if (std::exchange(is_open_, true)) return;
  const std::vector<NodeId>& order = room_.in_order();
  resources_ = catalog_.resources();
  free_.resize(order.size() * resources_);
  pools_.assign(catalog_.pools(), NodeSet(order.size()));
  one_numa_ = NodeSet(order.size());
  rank_of_.resize(room_.nodes());
  for (std::uint32_t rank = 0; rank < order.size(); ++rank) {
    const NodeRoom::Node& node = room_.node_at(order[rank]);
    if (!node.in_service) continue;
    pools_[Catalog::kAny].add(rank);
    pools_[node.pool].add(rank);
    if (node.one_numa_node) one_numa_.add(rank);
    some_one_numa_ = some_one_numa_ || node.one_numa_node;
    rank_of_[order[rank]] = rank;
    for (ResourceId resource = 0; resource < resources_; ++resource)
      free_[rank * resources_ + resource] = node.left(resource);
  }
}

std::optional<std::uint32_t> NodeSpace::rank_of(NodeId node) {
  open();
  return node < rank_of_.size() ? rank_of_[node] : std::nullopt;
}

std::int64_t NodeSpace::largest(PoolId pool, ResourceId resource) {
  const Shelf& by_free = shelf(resource);
  const auto& in_pool = pools_[pool].words();
  for (auto it = by_free.rbegin(); it != by_free.rend(); ++it) {
    const auto& nodes = it->second.words();
    for (std::size_t word = 0; word < nodes.size(); ++word)
      if ((nodes[word] & in_pool[word]) != 0) return it->first;
  }
  return 0;
}

std::size_t NodeSpace::nodes() {
  open();
  return room_.in_order().size();
}

const std::vector<LevelDomain>& NodeSpace::domains(std::size_t level) {
  if (level >= domains_.size()) domains_.resize(levels());
  std::vector<LevelDomain>& domains = domains_[level];
  if (!domains.empty()) return domains;
  std::vector<std::uint32_t> place_of(catalog_.domains());  // index + 1; 0: none yet
  for (std::uint32_t rank = 0; rank < nodes(); ++rank) {
    if (!pools_[Catalog::kAny].has(rank)) continue;
    const auto& of_node = node_at(rank).domains;
    const DomainId id = level < of_node.size() ? of_node[level] : Catalog::kNoDomain;
    if (place_of[id] == 0) {
      domains.push_back({.id = id});
      place_of[id] = static_cast<std::uint32_t>(domains.size());
    }
    domains[place_of[id] - 1].ranks.push_back(rank);
  }
  return domains;
}

NodeSpace::Allowed& NodeSpace::allowed(ShapeId shape) {
  open();
  const auto [it, fresh] = allowed_.try_emplace(shape);
  Allowed& allowed = it->second;
  if (!fresh) return allowed;
  allowed.nodes = pools_[Catalog::kAny];
  const RulesId rules = catalog_.shape_rules(shape);
  for (std::uint32_t rank = 0; rules != Catalog::kNoRules && rank < nodes(); ++rank) {
    if (room_.refuses(id(rank), rules)) allowed.nodes.drop(rank);
  }
  allowed.candidates = allowed.nodes;
  return allowed;
}

bool NodeSpace::allows(std::uint32_t rank, ShapeId shape) { return allowed(shape).nodes.has(rank); }

bool NodeSpace::allows_any(ShapeId shape, PoolId pool) {
  const auto& nodes = allowed(shape).nodes.words();
  const auto& in_pool = pools_[pool].words();
  for (std::size_t word = 0; word < nodes.size(); ++word) {
    if ((nodes[word] & in_pool[word]) != 0) return true;
  }
  return false;
}

NodeSpace::Shelf& NodeSpace::shelf(ResourceId device) {
  const auto [it, fresh] = shelves_.try_emplace(device);
  if (!fresh) return it->second;
  for (std::uint32_t rank = 0; rank < nodes(); ++rank) {
    if (!pools_[Catalog::kAny].has(rank)) continue;
    it->second.try_emplace(free(rank, device), nodes()).first->second.add(rank);
  }
  return it->second;
}

std::optional<std::uint32_t> NodeSpace::find(ShapeId shape, PoolId pool) {
  std::optional<std::uint32_t> best;
  each_with_room(shape, pool, 1, [&](std::uint32_t rank) {
    best = rank;
    return false;
  });
  return best;
}

std::int64_t NodeSpace::fits(std::uint32_t rank, ShapeId shape) const {
  std::int64_t pods = std::numeric_limits<std::int64_t>::max();
  const std::int64_t* free = &free_[rank * resources_];
  for (const auto& [resource, amount] : catalog_.shape_requests(shape)) {
    if (free[resource] < amount) return 0;
    pods = std::min(pods, free[resource] / amount);
  }
  return pods;
}

std::int64_t NodeSpace::fits_of_job(std::uint32_t rank, ShapeId shape, std::int64_t pods) const {
  const std::int64_t fit = fits(rank, shape);
  if (fit >= pods) return fit;
  const NodeRoom::Node& node = room_.node_at(id(rank));
  const bool alone = std::ranges::all_of(catalog_.shape_requests(shape), [&](const auto& request) {
    const auto away = unbound_.find({rank, request.first});
    const std::int64_t more = away == unbound_.end() ? 0 : away->second;
    return std::max<std::int64_t>(0, node.left_of_bound(request.first) + more) ==
           free(rank, request.first);
  });
  return alone ? fit : 0;
}

void NodeSpace::take(const Stand& stand) {
  move(stand, +1);
  taken_from_.push_back(stand.rank);
}

void NodeSpace::think_away(const Stand& stand, bool bound, std::int64_t sign) {
  move(stand, -sign);
  taken_from_.push_back(stand.rank);
  for (auto& [shape, allowed] : allowed_)
    if (sign > 0 && allowed.nodes.has(stand.rank)) allowed.candidates.add(stand.rank);
  if (!bound) return;
  for (const auto& [resource, amount] : catalog_.shape_requests(stand.shape))
    unbound_[{stand.rank, resource}] += sign * capped_product(amount, stand.pods);
}

void NodeSpace::move(const Stand& stand, std::int64_t sign) {
  for (const auto& [resource, amount] : catalog_.shape_requests(stand.shape)) {
    std::int64_t& left = free_[stand.rank * resources_ + resource];
    const std::int64_t before = std::max<std::int64_t>(0, left);
    left -= sign * capped_product(amount, stand.pods);
    const std::int64_t after = std::max<std::int64_t>(0, left);
    const auto on = before == after ? shelves_.end() : shelves_.find(resource);
    if (on == shelves_.end()) continue;
    on->second.at(before).drop(stand.rank);
    on->second.try_emplace(after, room_.in_order().size()).first->second.add(stand.rank);
  }
}

}  // namespace berth::queue
