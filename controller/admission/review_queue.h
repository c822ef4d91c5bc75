// SPDX-License-Identifier: Apache-2.0
// Rules for a GPUQueue that its schema and CEL can't express: they read the policy, the nodes, the
// namespaces and the other queues. It refuses what can't become valid, and warns of what may.
#pragma once

#include "apis/kinds/gpu_queue.h"
#include "controller/admission/review_findings.h"
#include "controller/core/cluster_state.h"

namespace berth {

void check_queue(const GPUQueue& queue, const ClusterState& cluster, ReviewFindings& findings);

}  // namespace berth
