// SPDX-License-Identifier: Apache-2.0
// Service: shared by berth's long-running programs: logging, probes and metrics, and errors at the
// start.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "apis/base/result.h"
#include "controller/cmd/cluster/cluster_client.h"
#include "controller/cmd/line/flags.h"
#include "controller/io/log.h"
#include "controller/live/spdlog_log.h"
#include "controller/server/endpoints.h"
#include "controller/server/http_server.h"
#include "controller/server/metrics_door.h"
#include "controller/server/serving_certificate.h"

namespace berth {

LogOptions log_options(const LogFlags& flags);

// Health and metrics, each by a server of its own, so that no crowd at the one keeps a probe from
// the other; one listener for both where both name the same address. With authorization the metrics
// are served by HTTPS, as clients send tokens there. The process makes its own certificate: clients
// can't verify it, and it keeps tokens from a listener on the network.
//
// Loop thread only. Cluster and sources must outlive it. Call stop() and wait for it before the
// destructor.
class ProbeServers {
 public:
  ProbeServers(ClusterClient& cluster, const ProbeFlags& flags);
  // False: failed and logged.
  bool listen(const EndpointSources& sources);
  void stop(std::function<void()> on_empty);

 private:
  bool listen(HttpServer& server, const std::string& text, EndpointsServed served,
              const EndpointSources& sources, const char* what);
  Result<void> make_certificate();

  ClusterClient& cluster_;
  const ProbeFlags flags_;
  ApiClient client_;  // only for the metrics door
  std::optional<MetricsDoor> door_;
  ServingCertificate certificate_;
  HttpServer health_, metrics_;
};

// Prints to stderr; returns the exit code.
int fail(const Error& error);

}  // namespace berth
