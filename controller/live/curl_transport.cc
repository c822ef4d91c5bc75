// SPDX-License-Identifier: Apache-2.0
#include "controller/live/curl_transport.h"

#include <utility>

namespace berth {

CurlTransport::CurlTransport(UvLoop& loop, const Host& host, Log& log, ClientConfig config)
    : loop_(loop),
      config_(std::move(config)),
      credentials_(loop, host, log, config_),
      shared_{loop, config_, credentials_,
              [this](const std::shared_ptr<CurlExchange>& exchange, TransportOutcome outcome) {
                finished(exchange, outcome);
              }} {
  curl_global_init(CURL_GLOBAL_DEFAULT);
  for (auto& lane : lanes_) lane = std::make_shared<CurlLane>(loop);
}

CurlTransport::~CurlTransport() {
  *alive_ = false;
  for (const auto& exchange : exchanges_) exchange->abandon();
}

void CurlTransport::start(HttpRequest request, std::shared_ptr<ResponseSink> sink,
                          std::stop_token stop) {
  auto exchange = std::make_shared<CurlExchange>(shared_, std::move(request), std::move(sink));
  exchanges_.insert(exchange);
  // Posted, because a sink may be the caller, or because the caller has yet to store what it needs
  // for the sink.
  loop_.post([this, alive = alive_, exchange, stop = std::move(stop)] {
    if (!*alive) return;
    exchange->begin(lanes_[static_cast<std::size_t>(exchange->lane_kind())], stop);
  });
}

void CurlTransport::finished(const std::shared_ptr<CurlExchange>& exchange,
                             TransportOutcome outcome) {
  exchanges_.erase(exchange);
  // A request without any reply: the connection may be dead, and requests that share it would wait
  // as long. Running requests stay on it; the next ones get a new connection.
  std::shared_ptr<CurlLane>& lane = lanes_[static_cast<std::size_t>(exchange->lane_kind())];
  const bool silent = outcome == TransportOutcome::kTimeout && !exchange->heard_anything();
  if (silent && exchange->lane() == lane) lane = std::make_shared<CurlLane>(loop_);
}

}  // namespace berth
