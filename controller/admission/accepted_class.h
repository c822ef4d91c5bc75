// SPDX-License-Identifier: Apache-2.0
// Priority classes that a queue does not accept, by queue label or by priorityClassName.
#pragma once

#include "controller/admission/pod_slice.h"
#include "controller/admission/review_findings.h"
#include "controller/core/cluster_state.h"

namespace berth {

// Refuses a class that the workload names and its queue does not accept; `Warn` and `Off` only
// warn.
void check_accepted_class(const PodSlice& workload, const GPUQueue& queue,
                          const ClusterState& cluster, ReviewFindings& findings);

}  // namespace berth
