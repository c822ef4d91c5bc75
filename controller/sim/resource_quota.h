// SPDX-License-Identifier: Apache-2.0
// ResourceQuotas as admission heeds them: what a new pod takes is added to the `used` of each quota
// of its namespace, or else the pod is refused. What is given back, and what a new quota finds, is
// for its controller to count (resource_quotas.h). Quotas without scopes, for pods alone.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "controller/sim/api_server.h"
#include "controller/sim/node_fit.h"
#include "controller/sim/writes.h"

namespace berth::sim {

// What the pod takes, by the names that quotas have for it. One that has ended, or should have long
// ago, is only counted as an object.
Amounts usage_of(const nlohmann::json& pod, WallTime now);
// Whether a quota's bound is one of those.
bool bounds_pods(std::string_view name);
// As the server writes a sum: of memory and its like in powers of 1024.
std::string amount_text(std::string_view name, const Quantity& amount);

// `live` is null of a creation. An update takes nothing, and is asked only whether it says all that
// has to be said where it gets or loses a deadline.
void charge_quotas(Writing& writing, const WriteRequest& request, const StoreKey& key,
                   const nlohmann::json* live, const nlohmann::json& pod);

}  // namespace berth::sim
