// SPDX-License-Identifier: Apache-2.0
// Priorities that a queue does not accept, by label or by priorityClassName.
#pragma once

#include "controller/admission/pod_slice.h"
#include "controller/admission/review_findings.h"
#include "controller/core/cluster_state.h"

namespace berth {

// Refuses what a workload of the queue names beside its classes; under `Warn` and `Off` it warns.
void check_accepted_class(const PodSlice& workload, const GPUQueue& queue,
                          const ClusterState& cluster, ReviewFindings& findings);

}  // namespace berth
