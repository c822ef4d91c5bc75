// SPDX-License-Identifier: Apache-2.0
#include "controller/queue/cycle/pool_growth.h"

#include <algorithm>
#include <limits>

#include "controller/core/seeded_bugs.h"

namespace berth::queue {
namespace {

std::int64_t fit_on(const NodeRoom::Node& node, const Vector& requests) {
  std::int64_t pods = std::numeric_limits<std::int64_t>::max();
  for (const auto& [resource, amount] : requests)
    pods = std::min(pods, resource < node.offers.size() ? node.offers[resource] / amount : 0);
  return pods;
}

}  // namespace

PoolGrowth::Elastic* PoolGrowth::of(PoolId pool) {
  const auto to_come = room_.nodes_to_come(pool);
  if (!to_come) return nullptr;
  const auto [it, fresh] = pools_.try_emplace(pool);
  Elastic& elastic = it->second;
  if (!fresh) return &elastic;
  elastic.to_come = *to_come;
  elastic.has_nodes = std::ranges::any_of(
      room_.in_order(), [&](NodeId node) { return room_.node_at(node).pool == pool; });
  for (const auto& [shape, pods] : room_.claimants(pool))
    add(shape, pods, pool, elastic, elastic.waiting);
  return &elastic;
}

// Looks at nodes as if they were empty and in service.
std::int64_t PoolGrowth::on_one_node(Elastic& elastic, PoolId pool, ShapeId shape) const {
  const auto [it, fresh] = elastic.on_one_node.try_emplace(shape, 0);
  if (!fresh) return it->second;
  for (const NodeId node : room_.in_order()) {
    if (room_.node_at(node).pool != pool || room_.refuses(node, catalog_.shape_rules(shape)))
      continue;
    it->second = std::max(it->second, fit_on(room_.node_at(node), catalog_.shape_requests(shape)));
  }
  return it->second;
}

void PoolGrowth::Waiting::add(const Vector& asks, std::int64_t pods, std::int64_t on_one_node) {
  Alike& alike = by_asks.try_emplace(asks, 0, on_one_node).first->second;
  const auto needed = [&] {
    return alike.pods / alike.on_one_node + (alike.pods % alike.on_one_node == 0 ? 0 : 1);
  };
  nodes -= needed();
  alike.pods += pods;
  alike.on_one_node = std::min(alike.on_one_node, on_one_node);
  nodes += needed();
}

void PoolGrowth::add(ShapeId shape, std::int64_t pods, PoolId pool, Elastic& elastic,
                     Waiting& to) const {
  if (seeded(SeededBug::kGrowForEver)) return;
  to.add(catalog_.shape_requests(shape), pods,
         std::max<std::int64_t>(1, on_one_node(elastic, pool, shape)));
}

bool PoolGrowth::holds(ClassId workloads, PoolId pool) {
  Elastic* elastic = of(pool);
  if (elastic == nullptr || elastic->to_come == 0) return false;
  // If the pool has no nodes, berth can't know how many pods a node holds. So it releases one
  // workload, and the new node shows it.
  if (!elastic->has_nodes && elastic->waiting.nodes == 0) return true;
  Waiting all = elastic->waiting;
  for (const auto& [shape, pods] : catalog_.class_key(workloads).roles) {
    if (elastic->has_nodes && on_one_node(*elastic, pool, shape) == 0) return false;
    add(shape, pods, pool, *elastic, all);
  }
  return all.nodes <= elastic->to_come;
}

void PoolGrowth::take(ClassId workloads, PoolId pool) {
  Elastic* elastic = of(pool);
  if (elastic == nullptr) return;
  for (const auto& [shape, pods] : catalog_.class_key(workloads).roles)
    add(shape, pods, pool, *elastic, elastic->waiting);
  elastic->is_less = true;
}

std::optional<std::int64_t> PoolGrowth::nodes_left(PoolId pool) {
  const Elastic* elastic = of(pool);
  if (elastic == nullptr) return std::nullopt;
  return std::max<std::int64_t>(0, elastic->to_come - elastic->waiting.nodes);
}

bool PoolGrowth::is_less(PoolId pool) const {
  const auto elastic = pools_.find(pool);
  return elastic != pools_.end() && elastic->second.is_less;
}

void PoolGrowth::look(PoolId pool) {
  const auto elastic = pools_.find(pool);
  if (elastic != pools_.end()) elastic->second.is_less = false;
}

}  // namespace berth::queue
