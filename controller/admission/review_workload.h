// SPDX-License-Identifier: Apache-2.0
// The review of Pods and Jobs: what their queue holds back (queue_hold.h), and what the policy
// repairs and refuses (pod_review.h). Neither needs the other.
#pragma once

#include "controller/admission/admission_review.h"
#include "controller/admission/review.h"

namespace berth {

ReviewReply review_workload(ReviewPath path, PodHome home, const ReviewRequest& request,
                            const ReviewDocument& document, const ClusterState& cluster,
                            const Settings& settings);

}  // namespace berth
