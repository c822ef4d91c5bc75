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
#include "controller/io/task_group.h"
#include "controller/live/spdlog_log.h"
#include "controller/server/endpoints.h"
#include "controller/server/http_server.h"
#include "controller/server/metrics_door.h"
#include "controller/server/mounted_files.h"
#include "controller/server/serving_certificate.h"

namespace berth {

LogOptions log_options(const LogFlags& flags);

// Health and metrics, each on its own server, so that many metrics clients can't delay a probe. If
// both have the same address, they share one listener. With authorization it serves metrics over
// HTTPS, because clients send tokens. The process makes its own certificate. Clients can't verify
// it, but it protects the tokens from eavesdroppers on the network.
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
  Result<void> load_certificate();
  Result<void> make_certificate();
  Task<void> follow_certificate(std::stop_token stop);

  ClusterClient& cluster_;
  const ProbeFlags flags_;
  ApiClient client_;  // only for the metrics door
  std::optional<MetricsDoor> door_;
  ServingCertificate certificate_;
  MountedFiles files_;
  TaskGroup tasks_;
  HttpServer health_, metrics_;
};

// Prints to stderr; returns the exit code.
int fail(const Error& error);

}  // namespace berth
