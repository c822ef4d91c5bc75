// SPDX-License-Identifier: Apache-2.0
// ReviewEndpoint: the HTTP side of admission. /mutate and /validate take an AdmissionReview by POST
// and answer at once from the caches. All other requests are refused with a message.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "controller/admission/review.h"
#include "controller/core/cluster_state.h"
#include "controller/core/settings.h"
#include "controller/io/log.h"
#include "controller/runtime/flood_gate.h"
#include "controller/runtime/metrics.h"
#include "controller/server/http_server.h"

namespace berth {

// The webhook reviews Pods and Jobs at creation: one object, in a request of at most 3 MiB, and 1.5
// MiB in etcd. Updates are only of berth's own kinds, with two objects of at most 1.5 MiB each. The
// rest is for the envelope.
inline constexpr std::size_t kMaxReviewBytes = 4u << 20;

class ReviewEndpoint {
 public:
  struct Parts {
    const ClusterState& cluster;
    const Settings& settings;
    Metrics& metrics;
    std::function<MonotonicTime()> now;
    Log* log = nullptr;  // gets a line for each refusal; may be null
  };
  explicit ReviewEndpoint(Parts parts) : parts_(std::move(parts)) {}

  HttpResponse answer(const HttpCall& call) const;

 private:
  void log_refusal(const HttpCall& call, const ReviewReply& reply) const;

  Parts parts_;
  // A controller retries a refused request forever.
  mutable FloodGate gate_{5, 100};
};

}  // namespace berth
