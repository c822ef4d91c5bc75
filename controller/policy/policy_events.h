// SPDX-License-Identifier: Apache-2.0
// PolicyEvents: the events of the GPUClusterPolicy.
#pragma once

#include <vector>

#include "apis/kinds/gpu_cluster_policy.h"
#include "controller/core/plan.h"

namespace berth {

// Returns the events for the difference between the policy's current status and `next`. Nothing
// else is remembered, so a restart repeats no event. `labelled`: every node has its pool's labels
// and taints.
std::vector<EventNote> policy_events(const GPUClusterPolicy& policy,
                                     const GPUClusterPolicyStatus& next, bool labelled);

}  // namespace berth
