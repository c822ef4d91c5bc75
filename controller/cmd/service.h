// SPDX-License-Identifier: Apache-2.0
// Service: what berth's long-running programs have in common at the edge: how they log, where they
// are probed and scraped, and how they say that they can't start.
#pragma once

#include <string>

#include "apis/result.h"
#include "controller/cmd/flags.h"
#include "controller/io/log.h"
#include "controller/live/spdlog_log.h"
#include "controller/server/endpoints.h"
#include "controller/server/http_server.h"

namespace berth {

LogOptions log_options(const LogFlags& flags);

// Whether an address switches its listener on.
bool enabled(const std::string& address);
// One of the two addresses, unless it is off: an error names the flag.
Result<void> validate_address(const std::string& flag, const std::string& address);

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
