// SPDX-License-Identifier: Apache-2.0
#include "controller/admission/gpu_offers.h"

#include <algorithm>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "controller/fleet/allocatable.h"
#include "controller/fleet/pools.h"
#include "controller/mig/overlap.h"
#include "controller/mig/target.h"
#include "controller/policy/nodes_to_come.h"

namespace berth {
namespace {

// The resources a node has now, or will have with its layout and its pool's sharing in force.
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
    return pool == nullptr ? names : with_shared_names(*pool, std::move(names));
  }

 private:
  static void add(const ResourceList& list, std::set<std::string>& names) {
    for (const auto& [name, quantity] : gpus_in(list))
      if (quantity > Quantity()) names.insert(name.str());
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

struct GpuNode {
  std::shared_ptr<const Node> node;
  PoolIndex pool = kNoPool;
  std::set<std::string> offers;
};

std::vector<GpuNode> gpu_nodes_of(const ClusterState& cluster) {
  const GPUClusterPolicy* policy = find_policy(cluster);
  Offered offered(cluster);
  std::vector<GpuNode> nodes;
  for (const auto& node : cluster.nodes()) {
    const PoolSpec* pool = policy == nullptr ? nullptr : pool_of(*policy, *node);
    std::set<std::string> offers = offered.on(*node, pool);
    if (!offers.empty()) nodes.push_back({node, index_of(policy, pool), std::move(offers)});
  }
  return nodes;
}

// Texts are interned: equal values have the same address.
const void* address_of(const Text& text) { return text.view().data(); }

// Labels of which nearly each node has its own value, for example its name or discovery time.
std::vector<Text> particular_labels(const std::vector<GpuNode>& nodes) {
  const std::size_t common = std::max<std::size_t>(64, nodes.size() / 16);
  struct Values {
    Text label;
    std::unordered_set<const void*> seen;
  };
  std::unordered_map<const void*, Values> by_label;
  for (const GpuNode& gpu : nodes)
    for (const auto& [label, value] : gpu.node->meta.labels) {
      Values& values = by_label[address_of(label)];
      if (values.label.empty()) values.label = label;
      if (values.seen.size() <= common) values.seen.insert(address_of(value));
    }
  std::vector<Text> particular;
  for (const auto& [address, values] : by_label)
    if (values.seen.size() > common) particular.push_back(values.label);
  std::ranges::sort(particular);
  return particular;
}

}  // namespace

GpuOffers::GpuOffers(const ClusterState& cluster) {
  const std::vector<GpuNode> nodes = gpu_nodes_of(cluster);
  particular_ = particular_labels(nodes);
  std::unordered_set<const void*> passed_over;
  for (const Text& label : particular_) passed_over.insert(address_of(label));
  std::map<std::set<std::string>, std::map<std::vector<const void*>, NodeClass*>> classes;
  for (const GpuNode& gpu : nodes) {
    std::vector<const void*> alike = {reinterpret_cast<const void*>(gpu.pool)};
    for (const auto& [label, value] : gpu.node->meta.labels) {
      if (passed_over.contains(address_of(label))) continue;
      alike.push_back(address_of(label));
      alike.push_back(address_of(value));
    }
    NodeClass*& of = classes[gpu.offers][std::move(alike)];
    if (of == nullptr) {
      of = &classes_.emplace_back(NodeClass{.number = classes_.size(), .pool = gpu.pool});
      for (const std::string& resource : gpu.offers) by_resource_[resource].classes.push_back(of);
    }
    of->nodes.push_back(gpu.node);
  }
  add_nodes_to_come(cluster);
  for (auto& [resource, offer] : by_resource_) {
    std::set<PoolIndex> pools(offer.to_come.begin(), offer.to_come.end());
    for (const NodeClass* of : offer.classes) pools.insert(of->pool);
    offer.outside_pools = pools.erase(kNoPool) > 0;
    offer.pools.assign(pools.begin(), pools.end());
  }
}

// If a node of a pool offers GPUs, berth assumes that future nodes of the pool are like that node.
void GpuOffers::add_nodes_to_come(const ClusterState& cluster) {
  const GPUClusterPolicy* policy = find_policy(cluster);
  if (policy == nullptr) return;
  std::set<PoolIndex> offering;
  for (const NodeClass& of : classes_) offering.insert(of.pool);
  const std::vector<std::string> known = resources();
  const std::set<std::string> offered(known.begin(), known.end());
  for (PoolIndex i = 0; i < policy->spec.pools.size(); ++i) {
    const PoolSpec& pool = policy->spec.pools[i];
    if (offering.contains(i)) continue;
    for (const std::string& resource : pool.elastic ? resources_to_come(cluster, pool, offered)
                                                    : promised_resources(cluster, pool, offered)) {
      GpuOffer& offer = by_resource_[resource];
      offer.to_come.push_back(i);
      offer.can_be_added = offer.can_be_added || pool.elastic;
    }
  }
}

bool GpuOffers::is_particular(const Text& label) const {
  return std::ranges::binary_search(particular_, label);
}

const GpuOffer* GpuOffers::find(std::string_view resource) const {
  auto it = by_resource_.find(resource);
  return it == by_resource_.end() ? nullptr : &it->second;
}

std::vector<std::string> GpuOffers::resources() const {
  std::vector<std::string> names;
  for (const auto& [name, offer] : by_resource_)
    if (offer.is_known()) names.push_back(name);
  return names;
}

void KeptOffers::follow(const Change<GPUQueue>& change) {
  const bool same = change.old != nullptr && change.now != nullptr &&
                    change.old->spec.quotas == change.now->spec.quotas;
  drop(!same);
}

const GpuOffers& KeptOffers::of(const ClusterState& cluster) const {
  if (made_ == nullptr) made_ = std::make_shared<const GpuOffers>(cluster);
  return *made_;
}

const GpuOffers& offers_of(const ClusterState& cluster) {
  return cluster.view<KeptOffers>().of(cluster);
}

bool shares(const PoolSpec& pool, std::string_view resource) {
  const SharingSpec& sharing = pool.sharing;
  if (sharing.strategy == SharingStrategy::kNone) return false;
  if (!sharing.rename_by_default) return lists(sharing, resource);
  return is_shared_resource(resource) && lists(sharing, unshared_resource(resource));
}

bool fails_above_one(const PoolSpec& pool, std::string_view resource) {
  // If unset, NVIDIA's plugin accepts such requests with time-slicing and refuses them with MPS.
  return shares(pool, resource) && pool.sharing.fail_requests_greater_than_one.value_or(
                                       pool.sharing.strategy == SharingStrategy::kMPS);
}

}  // namespace berth
