// SPDX-License-Identifier: Apache-2.0
// CurlTransport: the Transport to a real API server. TLS 1.2 or newer, verified; one connection per
// lane if the server supports HTTP/2; no redirects, no compression. Credentials go only to the
// configured server. Loop thread only. Destroy it only after its exchanges have ended.
#pragma once

#include <array>
#include <memory>
#include <unordered_set>

#include "controller/io/client_config.h"
#include "controller/io/host.h"
#include "controller/io/log.h"
#include "controller/io/transport.h"
#include "controller/live/credentials.h"
#include "controller/live/curl_exchange.h"
#include "controller/live/curl_lane.h"

namespace berth {

class CurlTransport : public Transport {
 public:
  CurlTransport(UvLoop& loop, const Host& host, Log& log, ClientConfig config);
  // It closes running exchanges without a call of their sinks: stop them first.
  ~CurlTransport() override;

  void start(HttpRequest request, std::shared_ptr<ResponseSink> sink,
             std::stop_token stop) override;

 private:
  static constexpr std::size_t kLanes = 4;
  void finished(const std::shared_ptr<CurlExchange>& exchange, TransportOutcome outcome);

  UvLoop& loop_;
  const ClientConfig config_;
  Credentials credentials_;
  CurlExchange::Shared shared_;
  std::array<std::shared_ptr<CurlLane>, kLanes> lanes_;
  std::unordered_set<std::shared_ptr<CurlExchange>> exchanges_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace berth
