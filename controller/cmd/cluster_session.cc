// SPDX-License-Identifier: Apache-2.0
#include "controller/cmd/cluster_session.h"

#include <unistd.h>

#include <csignal>
#include <optional>

#include "controller/live/curl_transport.h"
#include "controller/live/spdlog_log.h"
#include "controller/live/system_host.h"
#include "controller/live/uv_loop.h"

namespace berth {

Result<std::string> converse(
    const ConfigFlags& connection, std::string& where,
    const std::function<Task<Result<std::string>>(ApiClient&, std::stop_token)>& task) {
  const SystemHost host;
  const Result<ClientConfig> config = load_client_config(host, connection, ExecPlugins::kAccepted);
  if (!config) return config.error();
  where = config->server;

  UvLoop loop;
  SpdlogLog log({.level = LogLevel::kWarn, .fd = STDERR_FILENO});
  CurlTransport transport(loop, host, log, *config);
  ApiClient client(loop, transport, log, {.version = BERTH_VERSION, .component = "plan"});

  std::stop_source stop;
  for (const int signal : {SIGTERM, SIGINT}) loop.on_signal(signal, [&] { stop.request_stop(); });
  std::optional<Result<std::string>> outcome;
  // A coroutine's lambda must outlive it: it lives here, beside run().
  const auto main_task = [&]() -> Task<void> {
    outcome.emplace(co_await task(client, stop.get_token()));
  };
  // Stopped only once the task's frame is gone.
  spawn(loop, main_task(), [&loop] { loop.stop(); });
  loop.run();
  return std::move(*outcome);
}

Result<std::string> namespace_of(const ConfigFlags& connection) {
  const SystemHost host;
  Result<ClientConfig> config = load_client_config(host, connection, ExecPlugins::kAccepted);
  if (!config) return std::move(config).error();
  return std::move(config->namespace_);
}

}  // namespace berth
