// SPDX-License-Identifier: Apache-2.0
// MetricsDoor: allows /metrics for clients with a bearer token whose owner may `get` that path in
// the cluster, as in Kubernetes' own components. It asks the API server (TokenReview,
// SubjectAccessReview) within the limits of ViewerDesk.
//
// Loop thread only. Call stop() and wait for it before the destructor.
#pragma once

#include <functional>
#include <optional>

#include "controller/server/http_server.h"
#include "controller/server/viewer_desk.h"

namespace berth {

inline constexpr char kMetricsPath[] = "/metrics";

class MetricsDoor {
 public:
  // `client` has its own rate limit. `on_settled`: requests that wait for an answer may be
  // repeated.
  MetricsDoor(ApiClient& client, Log& log, std::function<void()> on_settled);

  // The refusal for the caller; nullopt: the caller may read the metrics.
  std::optional<HttpResponse> refuse(const HttpCall& call);

  void stop(std::function<void()> on_empty) { desk_.stop(std::move(on_empty)); }

 private:
  ViewerDesk desk_;
};

}  // namespace berth
