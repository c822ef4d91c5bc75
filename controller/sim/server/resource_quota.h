// SPDX-License-Identifier: Apache-2.0
// ResourceQuota: admission by ResourceQuotas. It adds a new pod's requests to `used` of each quota
// of its namespace, or refuses the pod. The quota's controller (resource_quotas.h) subtracts freed
// amounts and counts for new quotas. Only quotas without scopes, and only for pods.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "controller/sim/server/api_server.h"
#include "controller/sim/server/writes.h"
#include "controller/sim/world/node_fit.h"

namespace berth::sim {

// The pod's amounts, by the names that quotas use. A pod that has ended, or should have ended long
// ago, counts only as an object.
Amounts usage_of(const nlohmann::json& pod, WallTime now);
// Whether a quota's limit is one for pods.
bool bounds_pods(std::string_view name);
// A sum in the server's format: memory and similar in powers of 1024.
std::string amount_text(std::string_view name, const Quantity& amount);

// `live` is null for a creation. An update takes nothing. It is checked only for missing requests
// if it adds or removes a deadline.
void charge_quotas(Writing& writing, const WriteRequest& request, const StoreKey& key,
                   const nlohmann::json* live, const nlohmann::json& pod);

}  // namespace berth::sim
