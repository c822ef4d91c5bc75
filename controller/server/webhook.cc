// SPDX-License-Identifier: Apache-2.0
#include "controller/server/webhook.h"

#include <utility>

namespace berth {

using namespace std::chrono_literals;

Webhook::Webhook(World world, WebhookOptions options)
    : world_(std::move(world)),
      loop_(world_.client.loop()),
      clock_(loop_, kMaxClockSkew),
      options_(std::move(options)),
      caches_(
          world_.client, world_.log, world_.metrics, world_.on_synced,
          [this](std::string why) {
            failed_ = true;
            world_.log.error("ending", {{"why", std::move(why)}});
            end_.request_stop();
          },
          options_.seed),
      endpoint_({.cluster = caches_.cluster(),
                 .settings = options_.settings,
                 .metrics = world_.metrics,
                 .now = [this] { return loop_.now(); },
                 .log = &world_.log}) {
  world_.client.set_clock(&clock_);
}

Webhook::~Webhook() { world_.client.set_clock(nullptr); }

Task<int> Webhook::run(std::stop_token stop) {
  const std::stop_callback<std::function<void()>> on_stop(stop, [this] { end_.request_stop(); });
  caches_.start();
  co_await follow_certificate(end_.get_token());
  if (!failed_) {
    world_.log.info("ending", {{"why", "stop requested"}});
    world_.on_stopping();
    co_await sleep_for(options_.shutdown_delay, std::stop_token());
  }
  caches_.stop();
  co_return failed_ ? 1 : 0;
}

// If certificate and key do not match, they were most likely read during their replacement.
Task<void> Webhook::follow_certificate(std::stop_token stop) {
  while (!stop.stop_requested()) {
    const bool well = world_.files.refresh();
    if (world_.clients != nullptr) world_.clients->refresh();
    const std::chrono::nanoseconds soon = 1s;
    co_await sleep_for(well ? options_.certificate_poll : std::min(soon, options_.certificate_poll),
                       stop);
  }
}

HttpResponse Webhook::answer(const HttpCall& call) const {
  if (caches_.may_answer()) return endpoint_.answer(call);
  HttpResponse response;
  response.status = 503;
  response.body = "berth has not read the cluster's objects yet\n";
  return response;
}

// Uses the API server's clock, because the API server checks the certificate.
std::optional<std::string> Webhook::certificate_problem() const {
  const std::optional<Time> end = world_.certificate.not_after();
  if (!end) return "none is loaded yet";
  const Time now = loop_.wall_now() - clock_.skew().value_or(Duration());
  if (*end <= now) return "expired at " + format_time(*end);
  if (const auto begin = world_.certificate.not_before(); begin && now < *begin)
    return "is valid from " + format_time(*begin) + " on";
  return std::nullopt;
}

std::vector<ReadinessCheck> Webhook::readiness() const {
  std::vector<ReadinessCheck> checks = caches_.readiness();
  checks.push_back({.name = "certificate", .problem = certificate_problem()});
  if (world_.clients != nullptr) {
    checks.push_back({.name = "client-authorities"});
    if (!world_.clients->taken()) checks.back().problem = "none is loaded yet";
  }
  checks.push_back({.name = "shutdown"});
  if (end_.stop_requested()) checks.back().problem = "shutting down";
  return checks;
}

void Webhook::refresh_metrics() {
  if (const auto skew = clock_.skew()) world_.metrics.on_clock_skew(*skew);
  if (const std::optional<Time> end = world_.certificate.not_after())
    world_.metrics.on_certificate(*end);
}

}  // namespace berth
