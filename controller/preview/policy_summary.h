// SPDX-License-Identifier: Apache-2.0
// What becomes of a policy's pools and objects, read off the cluster before a projection and as the
// projection leaves it.
#pragma once

#include <optional>
#include <vector>

#include "controller/core/snapshot.h"
#include "controller/preview/projection.h"

namespace berth {

// Nothing if `after` has no policy. `now`: when the projection began. `deleted`: the policy that
// the projection deletes, as it was applied before; null: none.
std::optional<PolicySummary> summarize_policy(const ClusterState& before, const Snapshot& after,
                                              Time now, bool given,
                                              const GPUClusterPolicy* deleted = nullptr);

// The device plugin's file and PriorityClasses.
std::vector<ObjectChange> changed_policy_objects(const ClusterState& before,
                                                 const ClusterState& after,
                                                 const Settings& settings);

}  // namespace berth
