// SPDX-License-Identifier: Apache-2.0
#include "controller/cost/node_price.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "controller/fleet/node_facts.h"

namespace berth::cost {
namespace {

constexpr char kInstanceType[] = "node.kubernetes.io/instance-type";

struct CapacityLabel {
  std::string_view key, value;
  CapacityType type;
};
// karpenter.sh/docs/concepts/scheduling, docs.aws.amazon.com/eks (managed node groups),
// cloud.google.com/kubernetes-engine/docs/concepts/spot-vms,
// learn.microsoft.com/azure/aks/spot-node-pool.
constexpr std::array kCapacityLabels = {
    CapacityLabel{"karpenter.sh/capacity-type", "spot", CapacityType::kSpot},
    CapacityLabel{"karpenter.sh/capacity-type", "reserved", CapacityType::kReserved},
    CapacityLabel{"eks.amazonaws.com/capacityType", "SPOT", CapacityType::kSpot},
    CapacityLabel{"eks.amazonaws.com/capacityType", "CAPACITY_BLOCK", CapacityType::kReserved},
    CapacityLabel{"cloud.google.com/gke-spot", "true", CapacityType::kSpot},
    CapacityLabel{"cloud.google.com/gke-preemptible", "true", CapacityType::kSpot},
    CapacityLabel{"kubernetes.azure.com/scalesetpriority", "spot", CapacityType::kSpot}};

bool fits(const PriceRow& row, const Node& node, const Inventory& inventory) {
  if (!row.instance_type.empty() && label_of(node, kInstanceType) != row.instance_type)
    return false;
  if (!row.product.empty() && inventory.product != row.product) return false;
  return !row.capacity_type || *row.capacity_type == capacity_type_of(node);
}

std::optional<NodePrice> of_gpus(const std::string& per_gpu, const std::string& currency,
                                 const Inventory& inventory) {
  const auto price = parse_price(per_gpu);
  if (!price) return std::nullopt;
  return NodePrice{capped_product(*price, inventory.count), currency};
}

}  // namespace

CapacityType capacity_type_of(const Node& node) {
  for (const auto& [key, value, type] : kCapacityLabels)
    if (label_of(node, key) == value) return type;
  return CapacityType::kOnDemand;
}

std::optional<NodePrice> price_of(const GPUClusterPolicySpec& policy, const PoolSpec& pool,
                                  const Node& node) {
  const std::optional<Inventory> inventory = inventory_of(node);
  if (!inventory) return std::nullopt;
  for (const PriceRow& row : policy.prices) {
    if (!fits(row, node, *inventory)) continue;
    if (row.per_node_hour.empty()) return of_gpus(row.per_gpu_hour, row.currency, *inventory);
    const auto price = parse_price(row.per_node_hour);
    return price ? std::optional(NodePrice{*price, row.currency}) : std::nullopt;
  }
  if (!pool.price) return std::nullopt;
  return of_gpus(pool.price->per_gpu_hour, pool.price->currency, *inventory);
}

bool has_prices(const GPUClusterPolicySpec& policy) {
  return !policy.prices.empty() || std::ranges::any_of(policy.pools, [](const PoolSpec& pool) {
    return pool.price.has_value();
  });
}

}  // namespace berth::cost
