// SPDX-License-Identifier: Apache-2.0
// NodePrice: what a node costs in an hour: by the policy's table, else by its pool's price.
#pragma once

#include <optional>
#include <string>

#include "apis/kinds/core.h"
#include "apis/kinds/gpu_cluster_policy.h"
#include "controller/cost/money.h"

namespace berth::cost {

struct NodePrice {
  Micros per_hour = 0;  // of the whole node
  std::string currency;
};

// Nothing where neither the table nor the pool says.
std::optional<NodePrice> price_of(const GPUClusterPolicySpec& policy, const PoolSpec& pool,
                                  const Node& node);

// As the labels of Karpenter, EKS, GKE and AKS tell it; a node without any is on demand.
CapacityType capacity_type_of(const Node& node);

// Whether anything has a price.
bool has_prices(const GPUClusterPolicySpec& policy);

}  // namespace berth::cost
