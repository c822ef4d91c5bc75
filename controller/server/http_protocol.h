// SPDX-License-Identifier: Apache-2.0
// HttpProtocol: one connection's requests and responses as bytes, without a socket or a clock. It
// appends output to `out`. `now_ms` comes from any monotonic clock.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "controller/server/http_service.h"

namespace berth {

// If this much output waits, input waits until the client has read it.
inline constexpr std::size_t kEnoughToSend = 64 << 10;

class HttpProtocol {
 public:
  virtual ~HttpProtocol() = default;

  // Takes input bytes, in order.
  virtual void take(std::string_view bytes, std::uint64_t now_ms, std::string& out) = 0;
  // Call it first when the server may speak, then whenever all output was sent, so that waiting
  // input continues, and regularly. Then it also answers a client that stopped in the middle of a
  // request or lost its place.
  virtual void resume(std::uint64_t now_ms, std::string& out) = 0;
  // No more input or output: send the remaining output, then close the connection.
  virtual bool over() const = 0;
  // When the oldest request without a complete answer arrived; nullopt: there is none.
  virtual std::optional<std::uint64_t> busy_since_ms() const = 0;
  // When a request was last answered; nullopt: never. Other input does not count.
  virtual std::optional<std::uint64_t> answered_ms() const = 0;
};

// `service` must outlive the protocol.
std::unique_ptr<HttpProtocol> speak_http1(const HttpService& service);

}  // namespace berth
