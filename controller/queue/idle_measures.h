// SPDX-License-Identifier: Apache-2.0
// IdleMeasures: what taking back idle GPUs adds to /metrics.
#pragma once

#include "apis/gpu_cluster_policy.h"
#include "controller/core/plan.h"

namespace berth::queue {

extern const Measure kIdleReclaims;

// That a Job was suspended, or a pod evicted, under that policy.
Observation reclaimed(const ObjectRef& from, IdlePolicy policy);

}  // namespace berth::queue
