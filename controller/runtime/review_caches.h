// SPDX-License-Identifier: Apache-2.0
// ReviewCaches: the caches for the webhook's reviews. They hold only kinds that reviews need, and
// none that change with each pod.
//
// Loop thread only. It must outlive its informers' requests: stop() them and run the loop until
// they have ended.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "controller/runtime/caches.h"

namespace berth {

class ReviewCaches {
 public:
  // Calls `on_fatal` if the server's history went back; then only a restart helps.
  ReviewCaches(ApiClient& client, Log& log, InformerObserver& observer,
               std::function<void()> on_synced, std::function<void(std::string why)> on_fatal,
               std::uint64_t seed);

  void start() { caches_.start(); }
  void stop() { caches_.stop(); }

  // False until all caches have synced: a guess would be worse than the webhook's failurePolicy.
  bool may_answer() const;
  const ClusterState& cluster() const { return caches_.cluster(); }
  std::vector<ReadinessCheck> readiness() const { return caches_.readiness(); }

 private:
  Caches caches_;
  bool synced_ = false;
};

}  // namespace berth
