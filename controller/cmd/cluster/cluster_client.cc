// SPDX-License-Identifier: Apache-2.0
#include "controller/cmd/cluster/cluster_client.h"

#include <csignal>
#include <utility>

#include "controller/cmd/line/build_facts.h"

namespace berth {

Result<ClientConfig> find_cluster(const ConfigFlags& flags, ExecPlugins plugins) {
  return load_client_config(SystemHost(), flags, plugins);
}

ClusterClient::ClusterClient(ClientConfig found, const LogOptions& logging,
                             const std::string& component)
    : config(std::move(found)),
      log(logging),
      transport(loop, host, log, config),
      client(client_of(component)),
      flag_level_(logging.level) {}

ApiClient ClusterClient::client_of(const std::string& component) {
  return ApiClient(loop, transport, log,
                   {.version = build_facts().version, .component = component});
}

void ClusterClient::log_start() {
  log.info("starting", {{"version", build_facts().version},
                        {"commit", build_facts().commit},
                        {"server", config.server},
                        {"config_from", config.origin}});
  loop.on_signal(kDebugSignal, [this] { set_log_level(LogLevel::kDebug); });
  loop.on_signal(kFlagLevelSignal, [this] { set_log_level(flag_level_); });
}

void ClusterClient::set_log_level(LogLevel level) {
  log.set_level(level);
  log.info("log level changed", {{"level_now", name_of(level)}});
}

std::stop_token ClusterClient::stop_on_signal() {
  for (const int signal : {SIGTERM, SIGINT})
    loop.on_signal(signal, [this] { stop_.request_stop(); });
  return stop_.get_token();
}

}  // namespace berth
