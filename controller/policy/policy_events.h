// SPDX-License-Identifier: Apache-2.0
// PolicyEvents: what people who describe the GPUClusterPolicy are told as it comes about.
#pragma once

#include <vector>

#include "apis/gpu_cluster_policy.h"
#include "controller/core/plan.h"

namespace berth {

// The difference between the status that stands in the cluster, the policy's own, and the next one:
// nothing else is remembered, so that a restart tells nothing twice. `labelled`: no node is still
// to be given its pool's labels and taints.
std::vector<EventNote> policy_events(const GPUClusterPolicy& policy,
                                     const GPUClusterPolicyStatus& next, bool labelled);

}  // namespace berth
