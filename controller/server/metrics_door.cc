// SPDX-License-Identifier: Apache-2.0
#include "controller/server/metrics_door.h"

#include <string>
#include <utility>

#include "controller/server/bearer_token.h"

namespace berth {
namespace {

using Heard = ViewerDesk::Standing::Verdict;

Task<Result<ViewerRights>> may_scrape(ApiClient& client, Viewer viewer, CallOptions options) {
  ApiRequest request = path_review(viewer, kMetricsPath);
  const Result<Reply> reply = co_await client.send(std::move(request), std::move(options));
  if (!reply.has_value()) co_return reply.error();
  ViewerRights rights;
  if (allowed_in(reply->body)) rights.grant(kMetricsPath);
  co_return rights;
}

HttpResponse no(int status, std::string why, std::string head = {}) {
  return {.status = status, .body = why + "\n", .head = std::move(head)};
}

}  // namespace

MetricsDoor::MetricsDoor(ApiClient& client, Log& log, std::function<void()> on_settled)
    : desk_({.client = client,
             .log = log,
             .rights =
                 [&client](Viewer viewer, CallOptions options) {
                   return may_scrape(client, std::move(viewer), std::move(options));
                 },
             .on_settled = std::move(on_settled)}) {}

std::optional<HttpResponse> MetricsDoor::refuse(const HttpCall& call) {
  const std::string token = bearer_token(call.authorization);
  if (token.empty())
    return no(401, "metrics need a bearer token of this cluster", "www-authenticate: Bearer\r\n");
  const ViewerDesk::Standing standing = desk_.ask(token);
  switch (standing.verdict) {
    case Heard::kRefused:
      return no(401, "the cluster does not know this token, or no longer",
                "www-authenticate: Bearer error=\"invalid_token\"\r\n");
    case Heard::kAsking: {
      HttpResponse response = no(503, "the API server has not answered yet; try again");
      response.again = true;
      return response;
    }
    case Heard::kBusy:
      return no(503, "the API server can't be asked whose token this is; try again");
    case Heard::kAdmitted:
      break;
  }
  if (standing.rights->everywhere(kMetricsPath)) return std::nullopt;
  return no(403,
            "the owner of this token may not get /metrics: bind them to a ClusterRole with "
            "nonResourceURLs [/metrics] and the verb get");
}

}  // namespace berth
