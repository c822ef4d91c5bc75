// SPDX-License-Identifier: Apache-2.0
// Webhook: the shell of `berth webhook`. Informers fill the caches for reviews. The certificate
// follows its files. The shutdown is announced some time before it happens. The webhook writes
// nothing to the cluster.
//
// Loop thread only. run() is called once; the webhook must live until it has returned.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "controller/client/api_client.h"
#include "controller/core/settings.h"
#include "controller/io/log.h"
#include "controller/io/task.h"
#include "controller/runtime/controller.h"
#include "controller/runtime/metrics.h"
#include "controller/runtime/review_caches.h"
#include "controller/server/mounted_files.h"
#include "controller/server/review_endpoint.h"
#include "controller/server/serving_certificate.h"

namespace berth {

struct WebhookOptions {
  Settings settings;
  // Time between reads of the certificate's files.
  std::chrono::nanoseconds certificate_poll = std::chrono::seconds(10);
  // Time for which the webhook serves after a stop request: API servers keep connections, and a
  // Service's endpoints change late.
  std::chrono::nanoseconds shutdown_delay = std::chrono::seconds(10);
  std::uint64_t seed = 0;
};

class Webhook {
 public:
  struct World {
    ApiClient& client;
    Log& log;
    Metrics& metrics;
    const ServingCertificate& certificate;
    MountedFiles& files;
    std::function<void()> on_synced;    // may be null: frees memory once the caches are full
    std::function<void()> on_stopping;  // the listener must close its clients' connections
    MountedFiles* clients = nullptr;    // null: serves any client
  };
  Webhook(World world, WebhookOptions options);
  ~Webhook();
  Webhook(const Webhook&) = delete;
  Webhook& operator=(const Webhook&) = delete;

  // The process's exit code: 0 after a requested stop, 1 if the server's history went back.
  Task<int> run(std::stop_token stop);

  // 503 until the caches are full: a guess would be worse than the webhook's failurePolicy.
  HttpResponse answer(const HttpCall& call) const;
  std::vector<ReadinessCheck> readiness() const;
  void refresh_metrics();

 private:
  Task<void> follow_certificate(std::stop_token stop);
  std::optional<std::string> certificate_problem() const;

  World world_;
  Loop& loop_;
  ServerClock clock_;
  const WebhookOptions options_;
  ReviewCaches caches_;
  ReviewEndpoint endpoint_;
  std::stop_source end_;  // for any reason
  bool failed_ = false;
};

}  // namespace berth
