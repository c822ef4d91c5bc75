// SPDX-License-Identifier: Apache-2.0
// FleetCost: what the fleet costs in an hour as it is now, by whom it is held. Only nodes of pools
// are counted, and of those only what has a price.
#pragma once

#include <string>

#include "controller/core/snapshot.h"
#include "controller/cost/spending.h"

namespace berth::cost {

// As bills have it: 730 hours.
inline constexpr Micros kHoursOfMonth = 730;

// Millionths of the currency per hour.
SpendingsByCurrency hourly_cost(const Snapshot& snapshot, const GPUClusterPolicy& policy);

// What the GPUs that a pod holds cost in a month, "2234 USD"; empty where they have no price.
std::string monthly_price(const Snapshot& snapshot, const Pod& pod);

// "Deployment/llama", "Job/train": the topmost owner that the pod's own names tell of.
std::string owner_of(const Pod& pod);

}  // namespace berth::cost
