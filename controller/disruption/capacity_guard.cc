// SPDX-License-Identifier: Apache-2.0
#include "controller/disruption/capacity_guard.h"

#include <fmt/format.h>

#include <algorithm>

#include "apis/base/reasons.h"
#include "controller/disruption/rollout_annotation.h"
#include "controller/fleet/gpu_users.h"
#include "controller/fleet/node_facts.h"
#include "controller/fleet/pools.h"
#include "controller/queue/facts/facts.h"

namespace berth {
namespace {

void add(const Node& node, int sign, Capacity& capacity) {
  for (const auto& [resource, quantity] : gpus_in(node.allocatable))
    capacity[resource.view()] += sign * quantity.as_whole().value_or(0);
}

// Whether the remaining nodes offer what the stake needs. For the class `gpu`, any GPU resource is
// enough.
bool is_met(const QueueStake& stake, std::string_view resource, const Capacity& left,
            const Capacity& offered) {
  return std::ranges::any_of(left, [&](const auto& one) {
    const auto goes = offered.find(one.first);
    const bool wanted = stake.resource == queue::kGpuClass || one.first == resource;
    return wanted && one.second > (goes == offered.end() ? 0 : goes->second);
  });
}

}  // namespace

Capacity gpu_capacity(const Node& node) {
  Capacity capacity;
  add(node, 1, capacity);
  return capacity;
}

CapacityGuard::CapacityGuard(const Snapshot& snapshot, const SlotLedger& ledger,
                             const CapacityGuardSpec& spec)
    : snapshot_(snapshot), ledger_(ledger), spec_(spec) {
  if (spec.protect_last_provider) stakes_ = queue_stakes(snapshot);
  for (const auto& node : snapshot.cluster.nodes())
    if (counts(*node)) add(*node, 1, remaining_);
}

// A slot counts as a cordon, because the cordon's patch may be on its way.
bool CapacityGuard::counts(const Node& node) const {
  return in_service(node) && ledger_.find(node.meta.name) == nullptr;
}

std::optional<Cause> CapacityGuard::refuse(const Node& node) const {
  if (!counts(node)) return std::nullopt;  // it is out of service already
  const Capacity offered = gpu_capacity(node);
  if (auto refusal = refuse_minimum(offered)) return refusal;
  if (spec_.protect_last_provider) return refuse_last_provider(node, offered);
  return std::nullopt;
}

std::optional<Cause> CapacityGuard::refuse_minimum(const Capacity& offered) const {
  for (const auto& [resource, minimum] : spec_.min_available) {
    auto lost = offered.find(resource);
    if (lost == offered.end()) continue;
    const std::int64_t left = remaining_.at(resource) - lost->second;
    if (left < minimum)
      return Cause{reasons::kCapacityGuard,
                   fmt::format("{} would fall to {} in service, below "
                               "spec.capacityGuard.minAvailable of {}; add or return nodes that "
                               "offer it, or lower the minimum",
                               resource, left, minimum)};
  }
  return std::nullopt;
}

std::optional<Cause> CapacityGuard::refuse_last_provider(const Node& node,
                                                         const Capacity& offered) const {
  for (const auto& [resource, count] : offered) {
    if (std::ranges::find(spec_.retire, resource) != spec_.retire.end()) continue;
    if (auto refusal = refuse_users(resource, count)) return refusal;
    if (auto refusal = refuse_queues(node, resource, offered)) return refusal;
  }
  return std::nullopt;
}

std::vector<std::string> CapacityGuard::last_provided(const Node& node) const {
  std::vector<std::string> resources;
  if (!counts(node)) return resources;
  const Capacity offered = gpu_capacity(node);
  for (const auto& [resource, count] : offered)
    if (refuse_users(resource, count) || refuse_queues(node, resource, offered))
      resources.emplace_back(resource);
  return resources;
}

std::optional<Cause> CapacityGuard::refuse_users(std::string_view resource,
                                                 std::int64_t count) const {
  if (remaining_.at(resource) > count) return std::nullopt;
  std::vector<std::string> dependants;
  for (const Pod* pod : snapshot_.cluster.view<GpuUsers>().of(Text(resource)))
    if (!pod->terminating() &&
        pod->meta.namespace_ != std::string_view(snapshot_.settings.agents_namespace))
      dependants.push_back(fmt::format("{}/{}", pod->meta.namespace_.view(), pod->meta.name));
  if (dependants.empty()) return std::nullopt;
  const std::string& first = *std::ranges::min_element(dependants);
  return Cause{reasons::kLastProvider,
               fmt::format("no other node in service offers {}, and {} pod{} hold{} it ({}{}); "
                           "wait until they end, add capacity, or allow the resource to "
                           "disappear: spec.capacityGuard.retire: [{}]",
                           resource, dependants.size(), dependants.size() == 1 ? "" : "s",
                           dependants.size() == 1 ? "s" : "", first,
                           dependants.size() == 1 ? "" : ", …", resource)};
}

std::optional<Cause> CapacityGuard::refuse_queues(const Node& node, std::string_view resource,
                                                  const Capacity& offered) const {
  if (stakes_.empty()) return std::nullopt;
  const std::string pool = pool_of(node);
  for (const QueueStake& stake : stakes_) {
    const bool by_class = stake.resource == queue::kGpuClass,
               anywhere = stake.pool == queue::kAnyPool;
    if (!(by_class || stake.resource == resource) || !(anywhere || stake.pool == pool)) continue;
    if (is_met(stake, resource, anywhere ? remaining_ : by_pool()[pool], offered)) continue;
    return Cause{
        reasons::kLastProvider,
        fmt::format("no other node in service{} offers {}, and {} GPUQueue {} counts on it; {}, "
                    "add capacity, or allow the resource to disappear: "
                    "spec.capacityGuard.retire: [{}]",
                    anywhere ? "" : " of pool " + pool, by_class ? "a GPU" : resource,
                    stake.nominal ? "the nominal quota of" : "work admitted by", stake.queue,
                    stake.nominal ? "lower the quota" : "wait until that ends", resource)};
  }
  return std::nullopt;
}

std::string CapacityGuard::pool_of(const Node& node) const {
  const GPUClusterPolicy* policy = find_policy(snapshot_.cluster);
  const PoolSpec* pool = policy == nullptr ? nullptr : berth::pool_of(*policy, node);
  return pool == nullptr ? std::string() : pool->name;
}

std::map<std::string, Capacity>& CapacityGuard::by_pool() const {
  if (!by_pool_) {
    by_pool_.emplace();
    for (const auto& node : snapshot_.cluster.nodes())
      if (counts(*node)) add(*node, 1, (*by_pool_)[pool_of(*node)]);
  }
  return *by_pool_;
}

void CapacityGuard::take(const Node& node) {
  if (!counts(node)) return;
  if (!stakes_.empty()) add(node, -1, by_pool()[pool_of(node)]);
  add(node, -1, remaining_);
}

}  // namespace berth
