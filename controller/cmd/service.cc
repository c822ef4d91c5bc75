// SPDX-License-Identifier: Apache-2.0
#include "controller/cmd/service.h"

#include <unistd.h>

#include <array>
#include <utility>

#include "controller/cmd/console.h"

namespace berth {

LogOptions log_options(const LogFlags& flags) {
  constexpr std::array<std::pair<std::string_view, LogLevel>, 4> kLevels{
      {{"debug", LogLevel::kDebug},
       {"info", LogLevel::kInfo},
       {"warn", LogLevel::kWarn},
       {"error", LogLevel::kError}}};
  LogOptions options;
  options.fd = STDERR_FILENO;
  options.format = flags.format == "json" ? LogFormat::kJson : LogFormat::kText;
  for (const auto& [name, level] : kLevels)
    if (flags.level == name) options.level = level;
  return options;
}

bool enabled(const std::string& address) { return !address.empty() && address != "0"; }

Result<void> validate_address(const std::string& flag, const std::string& address) {
  if (!enabled(address)) return {};
  const Result<ListenAddress> parsed = parse_listen_address(flag, address);
  if (!parsed.has_value()) return parsed.error();
  return {};
}

bool ProbeServers::listen(const std::string& metrics_address, const std::string& health_address,
                          const EndpointSources& sources, Log& log) {
  const auto listen = [&](HttpServer& server, const std::string& text, EndpointsServed served,
                          const char* what) {
    if (!enabled(text)) return true;
    const Result<ListenAddress> address = parse_listen_address(what, text);
    if (!address.has_value()) return false;  // validate() has told
    const auto handler = [&sources, served](const HttpCall& call) {
      return answer(sources, served, call.path, call.query);
    };
    const Result<int> port = server.listen(*address, handler);
    if (port.has_value()) {
      log.info("listening", {{"what", what}, {"port", *port}});
    } else {
      log.error("cannot listen", {{"what", what}, {"error", describe(port.error())}});
    }
    return port.has_value();
  };
  if (metrics_address == health_address)
    return listen(health_, health_address, {.health = true, .metrics = true}, "metrics and health");
  return listen(metrics_, metrics_address, {.metrics = true}, "metrics") &&
         listen(health_, health_address, {.health = true}, "health");
}

int fail(const Error& error) { return complain("berth", error); }

}  // namespace berth
