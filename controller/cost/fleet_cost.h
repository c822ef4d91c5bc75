// SPDX-License-Identifier: Apache-2.0
// FleetCost: what the fleet costs per hour now, by pool, namespace, queue and owner. It counts only
// nodes of pools, and only those with a price.
#pragma once

#include <string>

#include "controller/core/snapshot.h"
#include "controller/cost/spending.h"

namespace berth::cost {

// As in the bills of clouds: 730 hours.
inline constexpr Micros kHoursOfMonth = 730;

// Millionths of the currency per hour.
SpendingsByCurrency hourly_cost(const Snapshot& snapshot, const GPUClusterPolicy& policy);

// Returns what the pod's GPUs cost in a month, "2234 USD"; empty: they have no price.
std::string monthly_price(const Snapshot& snapshot, const Pod& pod);

// "Deployment/llama", "Job/train": the topmost owner that the pod itself names.
std::string owner_of(const Pod& pod);

}  // namespace berth::cost
