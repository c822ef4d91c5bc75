// SPDX-License-Identifier: Apache-2.0
// NodePrice: what a node costs per hour, by the policy's table, or else by its pool's price.
#pragma once

#include <optional>
#include <string>

#include "apis/kinds/core.h"
#include "apis/kinds/gpu_cluster_policy.h"
#include "controller/cost/money.h"

namespace berth::cost {

struct NodePrice {
  Micros per_hour = 0;  // millionths, for the whole node
  std::string currency;
};

// Nothing: neither the table nor the pool has a price, or the node's GPUs are unknown.
std::optional<NodePrice> price_of(const GPUClusterPolicySpec& policy, const PoolSpec& pool,
                                  const Node& node);

// Reads the labels of Karpenter, EKS, GKE and AKS. A node without them is on demand.
CapacityType capacity_type_of(const Node& node);

// Whether the policy has any price.
bool has_prices(const GPUClusterPolicySpec& policy);

}  // namespace berth::cost
