// SPDX-License-Identifier: Apache-2.0
#include "controller/queue/status/queue_funding.h"

#include <fmt/format.h>

#include <algorithm>

#include "apis/base/reasons.h"
#include "apis/kinds/gpu_cluster_policy.h"
#include "controller/core/plural.h"
#include "controller/queue/facts/amount.h"
#include "controller/queue/facts/capped.h"
#include "controller/queue/index/facts_from.h"

namespace berth::queue {
namespace {

constexpr std::size_t kPoolsNamed = 5;

// Returns 0 for a resource or pool that no node has had.
std::int64_t offered(const FactsIndex& facts, const QuotaFact& quota) {
  const ResourceId* resource = facts.catalog().find_resource(quota.resource);
  const PoolId* pool = facts.catalog().find_pool(quota.pool);
  return resource == nullptr || pool == nullptr ? 0 : facts.room().offered(*pool, *resource);
}

std::int64_t offered_by(const NodeRoom::Node& node, ResourceId resource) {
  if (resource != Catalog::kClass) return resource < node.offers.size() ? node.offers[resource] : 0;
  std::int64_t gpus = 0;
  for (const auto& [each, weight] : node.weights)
    gpus = capped_sum(gpus, capped_product(offered_by(node, each), weight));
  return gpus;
}

// Whether nodes that the autoscaler may add could offer `lacks` more. Each counts as the node of
// the pool that offers most. For a pool without nodes this is unknown, and the answer is yes.
bool may_grow_by(const FactsIndex& facts, const QuotaFact& quota, std::int64_t lacks) {
  const NodeRoom& room = facts.room();
  const ResourceId* resource = facts.catalog().find_resource(quota.resource);
  const PoolId* pool = facts.catalog().find_pool(quota.pool);
  const std::int64_t nodes = pool == nullptr ? 0 : room.nodes_to_come(*pool).value_or(0);
  if (nodes == 0 || resource == nullptr) return false;
  bool knows = false;
  std::int64_t most = 0;
  for (const NodeId id : room.in_order()) {
    if (room.node_at(id).pool != *pool) continue;
    knows = true;
    most = std::max(most, offered_by(room.node_at(id), *resource));
  }
  return !knows || capped_product(most, nodes) >= lacks;
}

std::string amount(std::int64_t of, const QuotaFact& quota) {
  return quota.resource == kGpuClass ? format_amount(of, Catalog::kClass) : std::to_string(of);
}

}  // namespace

QueueFunding::QueueFunding(const ClusterIndex& index) : index_(index), pools_(index.pools()) {
  for (const auto& [name, queue] : index.facts().queues())
    for (const QuotaFact& quota : queue.quotas) {
      std::int64_t& sum = promised_[{quota.resource, quota.pool}];
      sum = capped_sum(sum, quota.nominal);
    }
}

std::optional<Cause> QueueFunding::no_such_pool(const std::string& pool) const {
  if (pool == kAnyPool || std::ranges::find(pools_, pool) != pools_.end()) return std::nullopt;
  if (pools_.empty())
    return Cause{
        reasons::kPoolUnknown,
        fmt::format("pool {}: there is no GPUClusterPolicy {} that names pools; apply one, "
                    "or write pool: \"*\"",
                    pool, limits::kPolicyName)};
  return Cause{reasons::kPoolUnknown, fmt::format("the GPUClusterPolicy has no pool {}; it has {}",
                                                  pool, list_first(pools_, kPoolsNamed))};
}

std::optional<Cause> QueueFunding::shortfall(const GPUQueue& queue) const {
  for (const QuotaFact& quota : queue_fact(queue).quotas) {
    if (auto unknown = no_such_pool(quota.pool)) return unknown;
    const auto promised = promised_.find({quota.resource, quota.pool});
    if (promised == promised_.end()) continue;  // the queue itself is in trouble
    const std::int64_t there = offered(index_.facts(), quota);
    if (promised->second <= there) continue;
    if (may_grow_by(index_.facts(), quota, promised->second - there)) continue;
    const std::string place =
        quota.pool == kAnyPool ? "the cluster" : fmt::format("pool {}", quota.pool);
    return Cause{reasons::kNodesOfferLess,
                 fmt::format("the nominal quotas of {} for pool \"{}\" add up to {} over all "
                             "queues, and the nodes of {} in service offer {}; lower them, or add "
                             "nodes",
                             quota.resource, quota.pool, amount(promised->second, quota), place,
                             amount(there, quota))};
  }
  return std::nullopt;
}

}  // namespace berth::queue
