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

FlagTable probe_flags(std::string& metrics_address, std::string& health_address) {
  return {
      text_flag("--metrics-bind-address", metrics_address, "where /metrics is served; 0: nowhere"),
      text_flag("--health-probe-bind-address", health_address,
                "where /healthz and /readyz are served; 0: nowhere; may equal the metrics address"),
  };
}

Flag print_config_flag(bool& field) {
  return switch_flag("--print-config", field, "print every setting with its value, and exit");
}

bool enabled(const std::string& address) { return !address.empty() && address != "0"; }

Result<void> require_texts(std::initializer_list<FlagText> flags) {
  for (const FlagText& given : flags)
    if (given.text.empty()) return invalid_spec(given.flag, "must not be empty");
  return {};
}

Result<void> require_addresses(std::initializer_list<FlagText> flags) {
  for (const FlagText& given : flags) {
    if (!enabled(given.text)) continue;
    const Result<ListenAddress> parsed = parse_listen_address(given.flag, given.text);
    if (!parsed.has_value()) return parsed.error();
  }
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
