// SPDX-License-Identifier: Apache-2.0
// HttpService: what a listener answers from, whichever version of HTTP asks: its handler, its
// limits, and the room that POSTs share.
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
  const bool& draining;  // from then on responses end their connections

  // For a request whose head has come: what refuses it, before its body is read. Nothing if it may
  // go on; a POST then has its place, until `on_lost` is called. `length` is the body's, none if
  // nobody said.
  std::optional<HttpResponse> admit(std::string_view method, std::optional<std::uint64_t> length,
                                    std::function<void()> on_lost,
                                    std::unique_ptr<PostRoom::Place>& place) const;
  // Whether a request whose last bytes came then has stood still for too long.
  bool stands_still(std::uint64_t since_ms, std::uint64_t now_ms) const;
  // What a client gets to read for 400, 405, 408, 411, 413, 429, 431 and 501.
  HttpResponse refusal(int status) const;
};

// Fills path and query of a call from what stands in a request's first line.
void set_target(HttpCall& call, std::string_view target);

}  // namespace berth
