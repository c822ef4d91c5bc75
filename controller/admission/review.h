// SPDX-License-Identifier: Apache-2.0
// Admission review: it turns an AdmissionReview into its answer, and reads only the stores. The
// mutate path repairs Pods and Jobs, the validate path judges them and berth's own kinds.
// docs/admission.md is the table of rules.
//
// The same request on the same cluster gets the same answer, and nothing is written anywhere: a dry
// run gets the same answer as any other request. Loop thread only.
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

// Which user was refused which object by which rule, for the log.
struct ReviewRefusal {
  std::string user;
  std::string object;  // "Pod/team-a/train-0"; unnamed yet: "Pod/team-a/train-"
  std::string field;   // of the first refusal; empty: the whole object
  std::string rule;    // the message of that refusal
  std::size_t refusals = 1;
};

struct ReviewReply {
  ReviewVerdict verdict = ReviewVerdict::kRefused;
  int http_status = 200;
  std::string body;                      // JSON: the AdmissionReview, or with 400 a metav1.Status
  std::string_view operation = "other";  // what was reviewed: CREATE, UPDATE, DELETE or CONNECT
  std::optional<ReviewRefusal> refusal = {};  // set if the verdict is kDenied
};

ReviewReply review(ReviewPath path, std::string_view body, const ClusterState& cluster,
                   const Settings& settings);

}  // namespace berth
