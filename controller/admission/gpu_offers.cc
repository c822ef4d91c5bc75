// SPDX-License-Identifier: Apache-2.0
#include "controller/admission/gpu_offers.h"

#include <algorithm>
#include <optional>
#include <set>

#include "controller/core/pools.h"
#include "controller/mig/allocatable.h"
#include "controller/mig/overlap.h"
#include "controller/mig/target.h"
#include "controller/policy/plugin_config.h"

namespace berth {
namespace {

constexpr char kWholeGpu[] = "nvidia.com/gpu";

bool lists(const SharingSpec& sharing, std::string_view resource) {
  if (sharing.resources.empty()) return resource == kWholeGpu;
  return std::ranges::find(sharing.resources, resource) != sharing.resources.end();
}

// The resources a node has, now or once its layout and its pool's sharing are in force.
class Offered {
 public:
  explicit Offered(const ClusterState& cluster) : cluster_(cluster), owners_(cluster) {}

  std::set<std::string> on(const Node& node, const PoolSpec* pool) {
    std::set<std::string> names;
    add(node.allocatable, names);
    add(node.capacity, names);
    if (const MIGLayout* layout = owners_.owner_of(node)) {
      const Target& target = resolver(*layout).resolve(node);
      if (target.ok())
        for (const auto& [name, count] : expected_allocatable(target.layout, target.strategy, {}))
          if (count > 0) names.insert(name);
    }
    if (pool == nullptr || !pool->sharing.rename_by_default) return names;
    const std::set<std::string> unshared = names;
    for (const std::string& name : unshared)
      if (pool->sharing.strategy != SharingStrategy::kNone && lists(pool->sharing, name))
        names.insert(shared_name(name));
    return names;
  }

 private:
  static void add(const ResourceList& list, std::set<std::string>& names) {
    for (const auto& [name, quantity] : list)
      if (is_gpu_resource(name.view()) && quantity > Quantity()) names.insert(name.str());
  }
  TargetResolver& resolver(const MIGLayout& layout) {
    return resolvers_.try_emplace(&layout, cluster_, layout).first->second;
  }

  const ClusterState& cluster_;
  LayoutOwners owners_;
  std::map<const MIGLayout*, TargetResolver> resolvers_;
};

PoolIndex index_of(const GPUClusterPolicy* policy, const PoolSpec* pool) {
  return pool == nullptr ? kNoPool : static_cast<PoolIndex>(pool - policy->spec.pools.data());
}

}  // namespace

GpuOffers::GpuOffers(const ClusterState& cluster) {
  const GPUClusterPolicy* policy = find_policy(cluster);
  Offered offered(cluster);
  for (const auto& node : cluster.nodes()) {
    const PoolSpec* pool = policy == nullptr ? nullptr : pool_of(*policy, *node);
    const PoolIndex index = index_of(policy, pool);
    for (const std::string& resource : offered.on(*node, pool)) {
      GpuOffer& offer = by_resource_[resource];
      offer.places.push_back({node, index});
      if (index == kNoPool)
        offer.outside_pools = true;
      else if (auto at = std::ranges::lower_bound(offer.pools, index);
               at == offer.pools.end() || *at != index)
        offer.pools.insert(at, index);
    }
  }
}

const GpuOffer* GpuOffers::find(std::string_view resource) const {
  auto it = by_resource_.find(resource);
  return it == by_resource_.end() ? nullptr : &it->second;
}

std::vector<std::string> GpuOffers::resources() const {
  std::vector<std::string> names;
  for (const auto& [name, offer] : by_resource_) names.push_back(name);
  return names;
}

const GpuOffers& offers_of(const ClusterState& cluster) {
  struct Kept {
    std::optional<std::uint64_t> stamp;
    GpuOffers offers;
  };
  thread_local Kept kept;  // as the stamps are
  if (kept.stamp != cluster.fleet_stamp()) {
    kept.offers = GpuOffers(cluster);
    kept.stamp = cluster.fleet_stamp();
  }
  return kept.offers;
}

bool shares(const PoolSpec& pool, std::string_view resource) {
  const SharingSpec& sharing = pool.sharing;
  if (sharing.strategy == SharingStrategy::kNone) return false;
  constexpr std::string_view kShared = ".shared";
  if (!sharing.rename_by_default) return lists(sharing, resource);
  return resource.ends_with(kShared) &&
         lists(sharing, resource.substr(0, resource.size() - kShared.size()));
}

bool fails_above_one(const PoolSpec& pool, std::string_view resource) {
  // Unset, NVIDIA's plugin lets time-slicing pass and MPS fail.
  return shares(pool, resource) && pool.sharing.fail_requests_greater_than_one.value_or(
                                       pool.sharing.strategy == SharingStrategy::kMPS);
}

}  // namespace berth
