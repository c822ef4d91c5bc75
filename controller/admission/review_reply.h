// SPDX-License-Identifier: Apache-2.0
// The webhook's answers: AdmissionReviews, and a metav1.Status if the request is no
// AdmissionReview.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "controller/admission/pod_patch.h"
#include "controller/admission/review.h"
#include "controller/admission/review_findings.h"

namespace berth {

// HTTP 400: the request is no AdmissionReview.
ReviewReply reply_bad_request(std::string_view message);

ReviewReply reply_allowed(std::string_view uid, const PodPatch& patch,
                          const std::vector<std::string>& warnings);
inline ReviewReply reply_allowed(std::string_view uid) { return reply_allowed(uid, {}, {}); }

// Code 403 if the policy forbids the object, 422 if an object of berth's own kinds is invalid.
enum class Denial { kForbidden, kInvalid };
ReviewReply reply_denied(std::string_view uid, Denial denial, const ReviewFindings& findings);
// berth can decode the review but not its object: code 400.
ReviewReply reply_unreadable(std::string_view uid, std::string_view message);

}  // namespace berth
