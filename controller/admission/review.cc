// SPDX-License-Identifier: Apache-2.0
#include "controller/admission/review.h"

#include <fmt/format.h>

#include "apis/names.h"
#include "controller/admission/admission_review.h"
#include "controller/admission/managed_namespaces.h"
#include "controller/admission/pod_review.h"
#include "controller/admission/review_objects.h"
#include "controller/admission/review_reply.h"
#include "controller/core/seeded_bugs.h"
#include "controller/fleet/pools.h"

namespace berth {
namespace {

ReviewReply answer(const ReviewRequest& request, const ReviewFindings& findings,
                   const PodPatch& patch) {
  if (findings.refused()) return reply_denied(request.uid, Denial::kForbidden, findings);
  return reply_allowed(request.uid, patch, findings.warnings());
}

ReviewReply mutate_pod(const ReviewRequest& request, const PodReview& review,
                       ReviewFindings& findings) {
  // The server validates between mutation and validation: what it would refuse is told now.
  check_amounts(review.pod, findings);
  if (findings.refused()) return answer(request, findings, {});
  const PodPatch patch = compute_repairs(review, findings);
  if (!patch.too_large()) return answer(request, findings, patch);
  findings.refuse(review.pod.field("containers"),
                  "what berth would add to them is more than 1 MiB; write fewer containers, fewer "
                  "terms of node affinity, or what is missing yourself");
  return answer(request, findings, {});
}

ReviewReply validate_pod(const ReviewRequest& request, const PodReview& review,
                         ReviewFindings& findings) {
  if (names_gpu(review.pod))
    check_pod(review, findings);
  else
    check_device_access(review.pod, findings);
  return answer(request, findings, {});
}

// Of a pod that exists hardly anything may change, and a Job's template nothing: what is about to
// be created is looked at, and the containers that a debugger adds.
enum class Occasion { kNone, kCreation, kDebugging };
Occasion occasion_of(const ReviewRequest& request, ReviewPath path, PodHome home) {
  if (request.operation == "CREATE" && request.sub_resource.empty()) return Occasion::kCreation;
  const bool debugs = request.operation == "UPDATE" && home == PodHome::kPod &&
                      request.sub_resource == "ephemeralcontainers";
  return debugs && path == ReviewPath::kValidate ? Occasion::kDebugging : Occasion::kNone;
}

ReviewFindings findings_under(const GPUClusterPolicy& policy) {
  return ReviewFindings(policy.spec.admission.enforcement == Enforcement::kWarn
                            ? ReviewFindings::Mode::kWarn
                            : ReviewFindings::Mode::kEnforce);
}

ReviewReply review_debugging(const ReviewRequest& request, const ReviewDocument& document,
                             const GPUClusterPolicy& policy) {
  const Result<PodSlice> pod = document.read_debugged_pod();
  if (!pod) return reply_unreadable(request.uid, describe(pod.error()));
  ReviewFindings findings = findings_under(policy);
  check_debugging(*pod, findings);
  return answer(request, findings, {});
}

ReviewReply review_pod(ReviewPath path, PodHome home, const ReviewRequest& request,
                       const ReviewDocument& document, const ClusterState& cluster,
                       const Settings& settings) {
  const GPUClusterPolicy* policy = find_policy(cluster);
  const Occasion occasion = occasion_of(request, path, home);
  // A kubelet shows its static pods, which can't be changed any more. It is told by who asks: what
  // a pod says of itself, anybody may write.
  if (occasion == Occasion::kNone || request.by_kubelet || policy == nullptr ||
      policy->spec.admission.enforcement == Enforcement::kOff)
    return reply_allowed(request.uid);
  const NamespaceStanding standing =
      judge_namespace(request.namespace_, *policy, cluster, settings);
  if (standing == NamespaceStanding::kLeftAlone && !seeded(SeededBug::kMutateEverywhere))
    return reply_allowed(request.uid);
  if (occasion == Occasion::kDebugging)
    return standing == NamespaceStanding::kUnknown ? reply_allowed(request.uid)
                                                   : review_debugging(request, document, *policy);

  const Result<PodSlice> pod = document.read_pod(home);
  if (!pod) return reply_unreadable(request.uid, describe(pod.error()));
  if (path == ReviewPath::kMutate && !names_gpu(*pod)) return reply_allowed(request.uid);
  ReviewFindings findings = findings_under(*policy);
  if (standing == NamespaceStanding::kUnknown) {
    if (path == ReviewPath::kValidate && names_gpu(*pod))
      findings.warn("", fmt::format("berth has not yet seen namespace {}, so it neither completed "
                                    "nor checked this; if it stays Pending, create it again",
                                    shorten(request.namespace_)));
    return answer(request, findings, {});
  }
  const Namespace& namespace_ = *cluster.namespaces().find(request.namespace_);
  const PodReview judged(*pod, *policy, namespace_, cluster);
  return path == ReviewPath::kMutate ? mutate_pod(request, judged, findings)
                                     : validate_pod(request, judged, findings);
}

ReviewReply review_own_kind(const ReviewRequest& request, const ReviewDocument& document,
                            const ClusterState& cluster, const WritableKeys& keys) {
  const bool changes = request.operation == "CREATE" || request.operation == "UPDATE";
  if (!changes || !request.sub_resource.empty()) return reply_allowed(request.uid);
  ReviewFindings findings(ReviewFindings::Mode::kEnforce);
  Result<void> read =
      check_object(request.kind, document.object(), document.old_object(), cluster, keys, findings);
  if (!read) return reply_unreadable(request.uid, "request.object: " + describe(read.error()));
  if (findings.refused()) return reply_denied(request.uid, Denial::kInvalid, findings);
  return reply_allowed(request.uid, {}, findings.warnings());
}

// Of the server's four, so that a label of a metric has no other values.
std::string_view known_operation(std::string_view operation) {
  for (const std::string_view known : {"CREATE", "UPDATE", "DELETE", "CONNECT"})
    if (operation == known) return known;
  return "other";
}

ReviewReply review(ReviewPath path, const ReviewRequest& request, const ReviewDocument& document,
                   const ClusterState& cluster, const Settings& settings) {
  if (std::optional<PodHome> home = pod_home(request))
    return review_pod(path, *home, request, document, cluster, settings);
  if (request.group == names::kGroup && path == ReviewPath::kValidate)
    return review_own_kind(request, document, cluster, settings.node_keys);
  return reply_allowed(request.uid);
}

}  // namespace

std::string_view to_string(ReviewVerdict verdict) {
  switch (verdict) {
    case ReviewVerdict::kRefused:
      return "refused";
    case ReviewVerdict::kDenied:
      return "denied";
    case ReviewVerdict::kAllowed:
      return "allowed";
    case ReviewVerdict::kPatched:
      return "patched";
  }
  return "?";
}

ReviewReply review(ReviewPath path, std::string_view body, const ClusterState& cluster,
                   const Settings& settings) {
  ReviewDocument document(body);
  const Result<ReviewRequest> request = document.read_request();
  if (!request) return reply_bad_request(describe(request.error()));
  ReviewReply reply = review(path, *request, document, cluster, settings);
  reply.operation = known_operation(request->operation);
  return reply;
}

}  // namespace berth
