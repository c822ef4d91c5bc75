// SPDX-License-Identifier: Apache-2.0
// ReviewCaches: the caches that the webhook answers reviews from: what these ask for, and nothing
// that changes with each pod.
//
// Loop thread only. It must outlive its informers' requests: stop() them and let the loop run until
// they ended.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "controller/runtime/caches.h"

namespace berth {

class ReviewCaches {
 public:
  // `on_fatal`: the server's history went back, and only another process can be right again.
  ReviewCaches(ApiClient& client, Log& log, InformerObserver& observer,
               std::function<void()> on_synced, std::function<void(std::string why)> on_fatal,
               std::uint64_t seed);

  void start() { caches_.start(); }
  void stop() { caches_.stop(); }

  // Not until everything has been read: a guess would be worse than the configuration's
  // failurePolicy.
  bool may_answer() const;
  const ClusterState& cluster() const { return caches_.cluster(); }
  std::vector<ReadinessCheck> readiness() const { return caches_.readiness(); }

 private:
  Caches caches_;
  bool synced_ = false;
};

}  // namespace berth
