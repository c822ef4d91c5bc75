// SPDX-License-Identifier: Apache-2.0
// What is sent back: AdmissionReviews, and a Status for what is none.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "controller/admission/pod_patch.h"
#include "controller/admission/review.h"
#include "controller/admission/review_findings.h"

namespace berth {

// HTTP 400: what came is no AdmissionReview.
ReviewReply reply_bad_request(std::string_view message);

ReviewReply reply_allowed(std::string_view uid, const PodPatch& patch,
                          const std::vector<std::string>& warnings);
inline ReviewReply reply_allowed(std::string_view uid) { return reply_allowed(uid, {}, {}); }

// Code 403 for what the policy forbids, 422 for an object of berth's own that is wrong in itself.
enum class Denial { kForbidden, kInvalid };
ReviewReply reply_denied(std::string_view uid, Denial denial, const ReviewFindings& findings);
// The review can be read and its object can't: code 400.
ReviewReply reply_unreadable(std::string_view uid, std::string_view message);

}  // namespace berth
