// SPDX-License-Identifier: Apache-2.0
// IdleMeasures: the metric of idle GPUs that berth took back.
#pragma once

#include "apis/kinds/gpu_cluster_policy.h"
#include "controller/core/plan.h"

namespace berth::queue {

extern const Measure kIdleReclaims;

// Records that berth suspended a Job or evicted a pod under that policy.
Observation reclaimed(const ObjectRef& from, IdlePolicy policy);

}  // namespace berth::queue
