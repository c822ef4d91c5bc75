// SPDX-License-Identifier: Apache-2.0
// HttpProtocol: one connection's requests and responses as bytes, whatever carries them: neither a
// socket nor a clock. What is to be sent is appended to `out`; `now_ms` is any clock that only goes
// forward.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "controller/server/http_service.h"

namespace berth {

// With so much to be sent, what came waits until the client has taken it.
inline constexpr std::size_t kEnoughToSend = 64 << 10;

class HttpProtocol {
 public:
  virtual ~HttpProtocol() = default;

  // Bytes that came, in their order.
  virtual void take(std::string_view bytes, std::uint64_t now_ms, std::string& out) = 0;
  // Everything that was appended has been sent: what waited goes on. At first: the server's turn.
  // And now and then: who stands still in the middle of a request, or lost its place, is told.
  virtual void resume(std::uint64_t now_ms, std::string& out) = 0;
  // No more is taken or appended: what was is still to be sent, then the connection ends.
  virtual bool over() const = 0;
  // When the oldest request came whose answer is not complete; none: nobody waits.
  virtual std::optional<std::uint64_t> busy_since_ms() const = 0;
  // When a request was last answered; none: never yet. What else a client says does not count.
  virtual std::optional<std::uint64_t> answered_ms() const = 0;
};

// The service must outlive them.
std::unique_ptr<HttpProtocol> speak_http1(const HttpService& service);

}  // namespace berth
