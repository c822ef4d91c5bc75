// SPDX-License-Identifier: Apache-2.0
// Bypass: pods that were created without review, while the webhook was off, down or not asked.
#pragma once

#include <optional>
#include <string>

#include "controller/core/cluster_state.h"
#include "controller/core/settings.h"

namespace berth {

// The pool of the pod's node, if the pool is closed to the pod's namespace; else nullptr.
const PoolSpec* closed_pool_of(const Pod& pod, const ClusterState& cluster);

// A sentence that says why berth believes that the pod was created without review; else nullopt. It
// considers pods of managed namespaces that are younger than the policy. There are two signs: the
// pod's node is in a pool that is closed to it, or the pod has no mutations annotation and lacks a
// toleration or an affinity that the webhook would have added. The other repairs can't be seen in
// the stored part of a pod. A pod that its user wrote complete lacks nothing. Mirror pods of a
// kubelet are skipped: only that kubelet can put them on its node.
std::optional<std::string> slipped_past(const Pod& pod, const ClusterState& cluster,
                                        const Settings& settings);

}  // namespace berth
