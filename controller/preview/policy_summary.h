// SPDX-License-Identifier: Apache-2.0
// PolicySummary: the changes of a policy's pools and objects, from the cluster before and after a
// projection.
#pragma once

#include <optional>
#include <vector>

#include "controller/core/snapshot.h"
#include "controller/preview/projection.h"

namespace berth {

// nullopt if `after` has no policy. `now` is the start of the projection. `deleted` is the policy
// that the projection deletes, as it was before; null: none.
std::optional<PolicySummary> summarize_policy(const ClusterState& before, const Snapshot& after,
                                              Time now, bool given,
                                              const GPUClusterPolicy* deleted = nullptr);

// The device plugin's file, and PriorityClasses.
std::vector<ObjectChange> changed_policy_objects(const ClusterState& before,
                                                 const ClusterState& after,
                                                 const Settings& settings);

}  // namespace berth
