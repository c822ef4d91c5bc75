// SPDX-License-Identifier: Apache-2.0
// What a GPUQueue's schema and CEL rules can't say of it: what the policy, the nodes, the
// namespaces and the other queues make of it. Its rules refuse; all that may still change warns.
#pragma once

#include "apis/gpu_queue.h"
#include "controller/admission/review_findings.h"
#include "controller/core/cluster_state.h"

namespace berth {

void check_queue(const GPUQueue& queue, const ClusterState& cluster, ReviewFindings& findings);

}  // namespace berth
