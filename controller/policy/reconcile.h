// SPDX-License-Identifier: Apache-2.0
// The policy's reconcilers: pure functions from a snapshot to a plan. A plan that has been applied
// and is planned again is empty.
#pragma once

#include <string_view>

#include "controller/core/plan.h"
#include "controller/core/snapshot.h"

namespace berth {

inline constexpr std::string_view kPolicyKey = "policy";
inline constexpr std::string_view kPoolKeys = "pool/";

// "policy": the finalizer, the device plugin's ConfigMap, which nodes take up their pool's config
// next, which lose what no pool asks for any more, the PriorityClasses, the status. A policy that
// is being deleted takes all of it back under deletionPolicy Remove, and else leaves it.
Plan reconcile_policy(const Snapshot& snapshot);

// "pool/NODE": the labels and taints that the node's pool puts on it. It takes none away.
Plan reconcile_pool_node(const Snapshot& snapshot, std::string_view node);

}  // namespace berth
