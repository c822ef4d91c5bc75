// SPDX-License-Identifier: Apache-2.0
// ClusterClient: loop, log, transport and client, which connect each berth program to its API
// server. The order of its members is the only one in which they can be destroyed.
#pragma once

#include <csignal>
#include <stop_token>
#include <string>

#include "apis/base/result.h"
#include "controller/client/api_client.h"
#include "controller/client/kubeconfig.h"
#include "controller/live/curl_transport.h"
#include "controller/live/spdlog_log.h"
#include "controller/live/system_host.h"
#include "controller/live/uv_loop.h"

namespace berth {

// Finds the API server from the flags, the environment or the pod.
Result<ClientConfig> find_cluster(const ConfigFlags& flags,
                                  ExecPlugins plugins = ExecPlugins::kRefused);

// Signals of `berth log-level`: log everything from now on, or use the flag's level again.
inline constexpr int kDebugSignal = SIGUSR1, kFlagLevelSignal = SIGUSR2;

class ClusterClient {
 public:
  // `component` appears in the user agent, and so in the API server's audit log.
  ClusterClient(ClientConfig found, const LogOptions& logging, const std::string& component);
  // A client of another component on the same connections.
  ApiClient client_of(const std::string& component);

  // Logs berth's version and the cluster. From now on `berth log-level` changes the level.
  void log_start();
  // SIGINT and SIGTERM request this stop from now on.
  std::stop_token stop_on_signal();

  SystemHost host;
  ClientConfig config;
  UvLoop loop;
  SpdlogLog log;
  CurlTransport transport;
  ApiClient client;

 private:
  void set_log_level(LogLevel level);

  const LogLevel flag_level_;
  std::stop_source stop_;
};

}  // namespace berth
