// SPDX-License-Identifier: Apache-2.0
// PreemptingClass: a PriorityClass for whose pods kube-scheduler preempts others. The scheduler
// preempts single pods, and a gang that misses one pod keeps its GPUs unused. Only the queue may
// therefore decide about preemption. A class with a value of 0 or less passes, as does a pod
// without a class: it can preempt only pods of a negative class.
#pragma once

#include "controller/admission/pod_slice.h"
#include "controller/admission/review_findings.h"
#include "controller/core/cluster_state.h"

namespace berth {

// For a Pod or a Job that is in a queue. berth refuses the class unless the policy's enforcement is
// Warn or Off. Without a policy it refuses too.
void check_preemption(const PodSlice& workload, const ClusterState& cluster,
                      ReviewFindings& findings);

}  // namespace berth
