// SPDX-License-Identifier: Apache-2.0
// Service: what berth's long-running programs have in common at the edge: how they log, where they
// are probed and scraped, and how they say that they can't start.
#pragma once

#include <initializer_list>
#include <string>

#include "apis/result.h"
#include "controller/cmd/flags.h"
#include "controller/io/log.h"
#include "controller/live/spdlog_log.h"
#include "controller/server/endpoints.h"
#include "controller/server/http_server.h"

namespace berth {

LogOptions log_options(const LogFlags& flags);

// --metrics-bind-address and --health-probe-bind-address.
FlagTable probe_flags(std::string& metrics_address, std::string& health_address);
Flag print_config_flag(bool& field);

// Whether an address switches its listener on.
bool enabled(const std::string& address);

// What a flag was given: an error names it.
struct FlagText {
  const char* flag;
  const std::string& text;
};
Result<void> require_texts(std::initializer_list<FlagText> flags);
// Those that are not off.
Result<void> require_addresses(std::initializer_list<FlagText> flags);

// Health and metrics, each by a server of its own, so that no crowd at the one keeps a probe from
// the other; one listener for both where both name the same address. The loop and the sources
// outlive it.
class ProbeServers {
 public:
  explicit ProbeServers(uv_loop_s* loop) : health_(loop), metrics_(loop) {}
  // False: told.
  bool listen(const std::string& metrics_address, const std::string& health_address,
              const EndpointSources& sources, Log& log);

 private:
  HttpServer health_, metrics_;
};

// To stderr; the exit code.
int fail(const Error& error);

}  // namespace berth
