// SPDX-License-Identifier: Apache-2.0
#include "controller/cmd/cluster/service.h"

#include <unistd.h>

#include <array>
#include <utility>

#include "controller/certificates/certificate_maker.h"
#include "controller/certificates/certificate_rules.h"
#include "controller/cmd/line/console.h"
#include "controller/cmd/line/service_flags.h"

namespace berth {
namespace {

// Only for requests about metrics clients, so that many of them do not delay berth's own requests.
constexpr double kScrapersPerSecond = 50;
constexpr int kScrapersAtOnce = 100;
// Tokens of identity providers are long.
constexpr HttpServerLimits kTokenLimits{.header_bytes = 32 << 10};
// Longer than any pod lives; each process makes its own certificate.
constexpr Duration kCertificateLife = std::chrono::hours(24 * 3650);
constexpr std::chrono::seconds kCertificateEvery{10};  // a mounted one is looked at

}  // namespace

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

ProbeServers::ProbeServers(ClusterClient& cluster, const ProbeFlags& flags)
    : cluster_(cluster),
      flags_(flags),
      client_(cluster.client_of("metrics")),
      files_(certificate_files(cluster.host, cluster.log, certificate_, flags.certificate_folder)),
      tasks_(cluster.loop),
      health_(cluster.loop.raw()),
      metrics_(cluster.loop.raw(), flags.authorization ? kTokenLimits : HttpServerLimits{}) {
  client_.limit(Traffic::kActing, TokenBucket(kScrapersPerSecond, kScrapersAtOnce));
  if (flags_.authorization)
    door_.emplace(client_, cluster_.log, [this] { metrics_.feed_in(std::chrono::nanoseconds(0)); });
}

bool ProbeServers::listen(const EndpointSources& sources) {
  if (flags_.metrics_address == flags_.health_address)
    return listen(health_, flags_.health_address, {.health = true, .metrics = true}, sources,
                  "metrics and health");
  return listen(metrics_, flags_.metrics_address, {.metrics = true}, sources, "metrics") &&
         listen(health_, flags_.health_address, {.health = true}, sources, "health");
}

bool ProbeServers::listen(HttpServer& server, const std::string& text, EndpointsServed served,
                          const EndpointSources& sources, const char* what) {
  if (!enabled(text)) return true;
  const Result<ListenAddress> address = parse_listen_address(what, text);
  if (!address.has_value()) return false;  // validate() has reported it
  const bool guarded = door_.has_value() && served.metrics;
  const auto handler = [this, &sources, served, guarded](const HttpCall& call) {
    if (guarded && call.path == kMetricsPath)
      if (std::optional<HttpResponse> refusal = door_->refuse(call)) return *std::move(refusal);
    return answer(sources, served, call.path, call.query);
  };
  Result<void> ready = guarded ? load_certificate() : Result<void>();
  Result<int> port =
      ready.has_value()
          ? server.listen(*address, handler, {.certificate = guarded ? &certificate_ : nullptr})
          : Result<int>(ready.error());
  if (port.has_value())
    cluster_.log.info("listening", {{"what", what}, {"port", *port}, {"tls", guarded}});
  else
    cluster_.log.error("cannot listen", {{"what", what}, {"error", describe(port.error())}});
  return port.has_value();
}

// The Secret may come later: until then no handshake succeeds.
Result<void> ProbeServers::load_certificate() {
  if (flags_.certificate_folder.empty()) return make_certificate();
  tasks_.spawn(follow_certificate(tasks_.token()));
  return {};
}

Task<void> ProbeServers::follow_certificate(std::stop_token stop) {
  while (!stop.stop_requested()) {
    files_.refresh();
    co_await sleep_for(kCertificateEvery, stop);
  }
}

Result<void> ProbeServers::make_certificate() {
  const Time now = cluster_.loop.wall_now();
  const Validity validity{now - kClockSkew, now + kCertificateLife};
  const Result<CertificatePair> authority = make_authority("berth metrics", validity);
  if (!authority.has_value()) return authority.error();
  const Result<CertificatePair> leaf = make_leaf(*authority, {"berth-metrics"}, validity);
  if (!leaf.has_value()) return leaf.error();
  return certificate_.replace(leaf->certificate, leaf->key);
}

void ProbeServers::stop(std::function<void()> on_empty) {
  tasks_.stop([this, on_empty = std::move(on_empty)]() mutable {
    if (door_) return door_->stop(std::move(on_empty));
    on_empty();
  });
}

int fail(const Error& error) { return complain("berth", error); }

}  // namespace berth
