// SPDX-License-Identifier: Apache-2.0
#include "controller/cmd/cluster/cluster_session.h"

#include <unistd.h>

#include <optional>
#include <utility>

#include "controller/cmd/cluster/cluster_client.h"
#include "controller/cmd/cluster/login_advice.h"

namespace berth {

Result<std::string> converse(
    const ConfigFlags& connection, std::string& where,
    const std::function<Task<Result<std::string>>(ApiClient&, std::stop_token)>& task) {
  Result<ClientConfig> config = find_cluster(connection, ExecPlugins::kAccepted);
  if (!config) return config.error();
  where = config->server;
  ClusterClient cluster(*std::move(config), {.level = LogLevel::kWarn, .fd = STDERR_FILENO},
                        "plan");
  const std::stop_token stop = cluster.stop_on_signal();
  std::optional<Result<std::string>> outcome;
  // A coroutine's lambda must outlive the coroutine, so it is declared beside run().
  const auto main_task = [&]() -> Task<void> {
    outcome.emplace(co_await task(cluster.client, stop));
  };
  // Stops only after the task's frame is destroyed.
  spawn(cluster.loop, main_task(), [&cluster] { cluster.loop.stop(); });
  cluster.loop.run();
  if (outcome->has_value() || outcome->error().kind != ErrorKind::kUnauthorized)
    return std::move(*outcome);
  Error error = std::move(*outcome).error();
  error.message += "; " + login_advice(cluster.config, cluster.host, cluster.loop.wall_now());
  return error;
}

Result<std::string> namespace_of(const ConfigFlags& connection) {
  const SystemHost host;
  Result<ClientConfig> config = load_client_config(host, connection, ExecPlugins::kAccepted);
  if (!config) return std::move(config).error();
  return std::move(config->namespace_);
}

}  // namespace berth
