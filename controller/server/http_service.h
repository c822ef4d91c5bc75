// SPDX-License-Identifier: Apache-2.0
// HttpService: what a listener needs to answer: its handler, its limits, and the memory that POST
// requests share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "controller/server/http_server.h"
#include "controller/server/post_room.h"

namespace berth {

struct HttpService {
  HttpHandler handler;
  std::size_t max_body_bytes = 0;
  const HttpServerLimits& limits;
  PostRoom& room;
  const bool& draining;  // while true, each response closes its connection

  // Decides by a request's head, before its body is read. Returns the refusal, or nullopt if the
  // request may continue. A POST then has a place until `on_lost` is called. `length` is that of
  // the body, nullopt if the client sent none.
  std::optional<HttpResponse> admit(std::string_view method, std::optional<std::uint64_t> length,
                                    std::function<void()> on_lost,
                                    std::unique_ptr<PostRoom::Place>& place) const;
  // Whether a request whose last bytes arrived at `since_ms` has been silent for too long.
  bool stands_still(std::uint64_t since_ms, std::uint64_t now_ms) const;
  // The response for 400, 405, 408, 411, 413, 429, 431 and 501.
  HttpResponse refusal(int status) const;
};

// Sets path and query of a call from the target in a request's first line.
void set_target(HttpCall& call, std::string_view target);

}  // namespace berth
