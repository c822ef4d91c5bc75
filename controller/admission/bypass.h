// SPDX-License-Identifier: Apache-2.0
// Bypass: pods that came past the webhook, which is switched off, was down, or was not asked.
#pragma once

#include <optional>
#include <string>

#include "controller/core/cluster_state.h"
#include "controller/core/settings.h"

namespace berth {

// The pool on whose node the pod stands although it is closed to the pod's namespace; nullptr:
// none.
const PoolSpec* closed_pool_of(const Pod& pod, const ClusterState& cluster);

// What shows that the pod, of a managed namespace and younger than the policy, came past the
// webhook, as a sentence. It stands in a pool that is closed to it, whatever it tolerates and
// whatever it says of itself; or it bears no mark of the webhook and lacks a toleration or an
// affinity that the webhook would have added. Other repairs can't be seen in what is kept of a pod,
// nor whether it was created on its node. One that was complete as its user wrote it has lost
// nothing. Nothing of pods that a kubelet shows: nobody else can put them on their node.
std::optional<std::string> slipped_past(const Pod& pod, const ClusterState& cluster,
                                        const Settings& settings);

}  // namespace berth
