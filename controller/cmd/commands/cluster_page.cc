// SPDX-License-Identifier: Apache-2.0
#include "controller/cmd/commands/cluster_page.h"

#include <fmt/format.h>

#include <chrono>
#include <random>
#include <set>
#include <string_view>
#include <utility>

#include "controller/cmd/line/service_flags.h"

namespace berth {

using namespace std::chrono_literals;

namespace {

// Only for the page, so that many viewers do not delay berth's own requests.
constexpr double kReviewsPerSecond = 100;
constexpr int kReviewsAtOnce = 200;
constexpr std::chrono::nanoseconds kCertificateEvery = 10s;
// Tokens of identity providers are long, and proxies add headers.
constexpr HttpServerLimits kPageLimits{.connections = 1024, .header_bytes = 32 << 10};

std::string new_era() { return fmt::format("{:08x}", std::random_device()()); }

}  // namespace

ClusterPage::ClusterPage(ClusterClient& cluster, const Controller& controller,
                         const Samples& samples, const ControllerFlags& flags)
    : controller_(controller),
      samples_(samples),
      flags_(flags),
      loop_(cluster.loop),
      log_(cluster.log),
      client_(cluster.client_of("page")),
      rights_({.client = client_,
               .namespaces = [this] { return namespaces(); },
               .settings = flags_.options.settings}),
      desk_({.client = client_,
             .log = log_,
             .rights =
                 [this](Viewer viewer, CallOptions options) {
                   return rights_.ask(std::move(viewer), std::move(options));
                 }}),
      port_({.snapshot = [this] { return snapshot(); },
             .ask = [this](const std::string& token) { return desk_.ask(token); },
             .now = [] { return std::chrono::steady_clock::now().time_since_epoch(); },
             .era = new_era(),
             .wake = [this](PagePort::Moment wait) { server_.feed_in(wait); }}),
      files_(certificate_files(cluster.host, log_, certificate_, flags_.page_certificate_folder)),
      tasks_(loop_),
      server_(loop_.raw(), kPageLimits) {
  client_.limit(Traffic::kActing, TokenBucket(kReviewsPerSecond, kReviewsAtOnce));
}

bool ClusterPage::listen() {
  if (!enabled(flags_.page_bind_address)) return true;
  const bool by_tls = !flags_.page_certificate_folder.empty();
  const Result<ListenAddress> address =
      parse_listen_address("--page-bind-address", flags_.page_bind_address);
  if (!address.has_value()) return false;  // validate() has reported it
  const Result<int> got =
      server_.listen(*address, [this](const HttpCall& call) { return port_.answer(call); },
                     {.certificate = by_tls ? &certificate_ : nullptr});
  if (!got.has_value()) {
    log_.error("cannot listen", {{"what", "page"}, {"error", describe(got.error())}});
    return false;
  }
  log_.info("listening", {{"what", "page"}, {"port", *got}, {"tls", by_tls}});
  if (by_tls) tasks_.spawn(follow_certificate(tasks_.token()));
  return true;
}

std::optional<PageFacts> ClusterPage::facts() const {
  if (!enabled(flags_.page_bind_address)) return std::nullopt;
  return port_.facts();
}

void ClusterPage::stop(std::function<void()> on_empty) {
  drain();
  desk_.stop(
      [this, on_empty = std::move(on_empty)]() mutable { tasks_.stop(std::move(on_empty)); });
}

Task<void> ClusterPage::follow_certificate(std::stop_token stop) {
  while (!stop.stop_requested()) {
    files_.refresh();
    co_await sleep_for(kCertificateEvery, stop);
  }
}

// nullopt until all caches are full: missing objects would appear as absent.
std::optional<Snapshot> ClusterPage::snapshot() const {
  for (const ReadinessCheck& check : controller_.readiness())
    if (check.problem) return std::nullopt;
  return Snapshot{.cluster = controller_.cluster(),
                  .answers = answers_,
                  .settings = flags_.options.settings,
                  .now = loop_.wall_now(),
                  .offline = true,
                  .zones = *flags_.options.zones,
                  .samples = samples_};
}

// Namespaces with pods that hold or wait for GPUs come first: the number of questions is limited.
std::vector<std::string> ClusterPage::namespaces() const {
  std::vector<std::string> names;
  std::set<std::string_view> known;
  const auto add = [&](const ObjectMeta& meta) {
    if (known.insert(meta.namespace_.view()).second) names.push_back(meta.namespace_.str());
  };
  for (const auto& pod : controller_.cluster().pods())
    if (uses_gpu(*pod)) add(pod->meta);
  for (const auto& job : controller_.cluster().jobs()) add(job->meta);
  return names;
}

}  // namespace berth
