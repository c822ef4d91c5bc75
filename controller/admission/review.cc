// SPDX-License-Identifier: Apache-2.0
#include "controller/admission/review.h"

#include <fmt/format.h>

#include "apis/base/names.h"
#include "controller/admission/admission_review.h"
#include "controller/admission/review_objects.h"
#include "controller/admission/review_reply.h"
#include "controller/admission/review_workload.h"

namespace berth {
namespace {

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

// Only the server's four operations, to bound the values of a metric's label.
std::string_view known_operation(std::string_view operation) {
  for (const std::string_view known : {"CREATE", "UPDATE", "DELETE", "CONNECT"})
    if (operation == known) return known;
  return "other";
}

// An object that the server has not named yet is identified by its generateName.
std::string object_of(const ReviewRequest& request, const ReviewDocument& document) {
  constexpr std::size_t kMost = 253;
  std::string name = request.name;
  std::string_view stem;
  if (const auto object = document.object(); object && name.empty())
    if ((*object)["metadata"]["generateName"].get(stem) == simdjson::SUCCESS) name = stem;
  return fmt::format("{}/{}{}{}", shorten(request.kind, kMost), shorten(request.namespace_, kMost),
                     request.namespace_.empty() ? "" : "/", shorten(name, kMost));
}

ReviewReply review(ReviewPath path, const ReviewRequest& request, const ReviewDocument& document,
                   const ClusterState& cluster, const Settings& settings) {
  if (std::optional<PodHome> home = pod_home(request))
    return review_workload(path, *home, request, document, cluster, settings);
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
  if (reply.refusal) {
    reply.refusal->user = request->user;
    reply.refusal->object = object_of(*request, document);
  }
  return reply;
}

}  // namespace berth
