// SPDX-License-Identifier: Apache-2.0
// MetricsDoor: lets to /metrics whoever shows a bearer token whose owner may `get` that path in the
// cluster, as Kubernetes' own components do. It asks the API server (TokenReview,
// SubjectAccessReview), within the bounds of the desk.
//
// Loop thread only. Stopped, and waited for, before it goes.
#pragma once

#include <functional>
#include <optional>

#include "controller/server/http_server.h"
#include "controller/server/viewer_desk.h"

namespace berth {

inline constexpr char kMetricsPath[] = "/metrics";

class MetricsDoor {
 public:
  // `client` has a rate of its own. `on_settled`: what waits for an answer may be asked again.
  MetricsDoor(ApiClient& client, Log& log, std::function<void()> on_settled);

  // What the caller gets instead of the metrics; nothing: they may have them.
  std::optional<HttpResponse> refuse(const HttpCall& call);

  void stop(std::function<void()> on_empty) { desk_.stop(std::move(on_empty)); }

 private:
  ViewerDesk desk_;
};

}  // namespace berth
