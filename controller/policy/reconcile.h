// SPDX-License-Identifier: Apache-2.0
// The policy's reconcilers: pure functions from a snapshot to a plan. After a plan is applied, the
// next plan is empty.
#pragma once

#include <string_view>

#include "controller/core/plan.h"
#include "controller/core/snapshot.h"

namespace berth {

inline constexpr std::string_view kPolicyKey = "policy";
inline constexpr std::string_view kPoolKeys = "pool/";

// "policy": the finalizer, the device plugin's ConfigMap, which nodes change to their pool's config
// next, which nodes lose what no pool wants any more, the PriorityClasses, and the status. If the
// policy is being deleted, all of it is removed under deletionPolicy Remove, and left otherwise.
Plan reconcile_policy(const Snapshot& snapshot);

// "pool/NODE": sets the labels and taints of the node's pool. It removes none.
Plan reconcile_pool_node(const Snapshot& snapshot, std::string_view node);

}  // namespace berth
