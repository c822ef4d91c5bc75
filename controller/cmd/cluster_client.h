// SPDX-License-Identifier: Apache-2.0
// ClusterClient: loop, log, transport and client, the way of each of berth's programs to its API
// server, built in the one order in which they may be torn down again.
#pragma once

#include <csignal>
#include <stop_token>
#include <string>

#include "apis/result.h"
#include "controller/client/api_client.h"
#include "controller/client/kubeconfig.h"
#include "controller/live/curl_transport.h"
#include "controller/live/spdlog_log.h"
#include "controller/live/system_host.h"
#include "controller/live/uv_loop.h"

namespace berth {

// Where the cluster is that the flags, the environment or the pod tell of.
Result<ClientConfig> find_cluster(const ConfigFlags& flags,
                                  ExecPlugins plugins = ExecPlugins::kRefused);

// What `berth log-level` sends: log everything from now on, or what the flag says again.
inline constexpr int kDebugSignal = SIGUSR1, kFlagLevelSignal = SIGUSR2;

class ClusterClient {
 public:
  // `component` is what the API server's audit log gets to read of us.
  ClusterClient(ClientConfig found, const LogOptions& logging, const std::string& component);
  // Of another component on the same connections.
  ApiClient client_of(const std::string& component);

  // Logs which berth and which cluster this is; from now on `berth log-level` changes the level.
  void log_start();
  // Asked for by SIGINT and SIGTERM from now on.
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
