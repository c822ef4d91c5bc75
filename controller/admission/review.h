// SPDX-License-Identifier: Apache-2.0
// Admission review: an AdmissionReview in, its answer out, from what the stores hold and nothing
// else. Pods and Jobs are repaired on the mutate path, judged on the validate path; berth's own
// kinds are judged on the validate path. docs/admission.md is the table of rules.
//
// The same request on the same cluster gets the same answer, and nothing is written anywhere: a dry
// run is answered as any other. Loop thread only.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "controller/core/cluster_state.h"
#include "controller/core/settings.h"

namespace berth {

enum class ReviewPath { kMutate, kValidate };

enum class ReviewVerdict {
  kRefused,  // no review: HTTP 400
  kDenied,
  kAllowed,
  kPatched,  // allowed, with a patch
};
std::string_view to_string(ReviewVerdict verdict);

// Who was refused what, for the log.
struct ReviewRefusal {
  std::string user;
  std::string object;  // "Pod/team-a/train-0"; of one without a name yet "Pod/team-a/train-"
  std::string field;   // of the first refusal; empty: of the object as a whole
  std::string rule;    // its sentence
  std::size_t refusals = 1;
};

struct ReviewReply {
  ReviewVerdict verdict = ReviewVerdict::kRefused;
  int http_status = 200;
  std::string body;                      // JSON: the AdmissionReview, or with 400 a metav1.Status
  std::string_view operation = "other";  // what was reviewed: CREATE, UPDATE, DELETE or CONNECT
  std::optional<ReviewRefusal> refusal = {};  // where the verdict is kDenied
};

ReviewReply review(ReviewPath path, std::string_view body, const ClusterState& cluster,
                   const Settings& settings);

}  // namespace berth
