// SPDX-License-Identifier: Apache-2.0
// The review of Pods and Jobs: queue_hold.h holds queued workloads, pod_review.h applies the
// policy's repairs and refusals. Neither needs the other.
#pragma once

#include "controller/admission/admission_review.h"
#include "controller/admission/review.h"

namespace berth {

ReviewReply review_workload(ReviewPath path, PodHome home, const ReviewRequest& request,
                            const ReviewDocument& document, const ClusterState& cluster,
                            const Settings& settings);

}  // namespace berth
