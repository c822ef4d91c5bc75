// SPDX-License-Identifier: Apache-2.0
// PreemptingClass: a PriorityClass for whose pods kube-scheduler deletes others. It takes single
// pods, and a gang that lacks one is held by nodes for nothing: who makes room for whom is the
// queue's to decide. A class of 0 or less passes, as having none does: above nobody but those of a
// negative one.
#pragma once

#include "controller/admission/pod_slice.h"
#include "controller/admission/review_findings.h"
#include "controller/core/cluster_state.h"

namespace berth {

// Of a pod or a Job that is in a queue. Refused, where the policy's enforcement does not say
// otherwise; without a policy too.
void check_preemption(const PodSlice& workload, const ClusterState& cluster,
                      ReviewFindings& findings);

}  // namespace berth
