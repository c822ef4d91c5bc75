// SPDX-License-Identifier: Apache-2.0
// HttpService: what a listener answers from, whichever version of HTTP asks: its handler, its
// limits, and the room that POSTs share. PostRoom: that room, of all listeners of a server.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "controller/server/http_server.h"

namespace berth {

class PostRoom {
 public:
  PostRoom(int posts, std::size_t bytes) : free_posts_(posts), free_bytes_(bytes) {}
  PostRoom(const PostRoom&) = delete;
  PostRoom& operator=(const PostRoom&) = delete;

  // What a POST holds while it is on its way, and gives back as it goes.
  struct GiveBack {
    std::size_t bytes = 0;
    void operator()(PostRoom* room) const {
      ++room->free_posts_;
      room->free_bytes_ += bytes;
    }
  };
  using Place = std::unique_ptr<PostRoom, GiveBack>;
  // Null: there is no room.
  Place take(std::size_t bytes);

 private:
  int free_posts_;
  std::size_t free_bytes_;
};

struct HttpService {
  HttpHandler handler;
  std::size_t max_body_bytes = 0;
  const HttpServerLimits& limits;
  PostRoom& room;
  const bool& draining;  // from then on responses end their connections

  // For a request whose head has come: what refuses it, before its body is read. Nothing if it may
  // go on; a POST then has its place. `length` is the body's, none if nobody said.
  std::optional<HttpResponse> admit(std::string_view method, std::optional<std::uint64_t> length,
                                    PostRoom::Place& place) const;
  // What a client gets to read for 400, 405, 411, 413, 429 and 431.
  HttpResponse refusal(int status) const;
};

// Fills path and query of a call from what stands in a request's first line.
void set_target(HttpCall& call, std::string_view target);

}  // namespace berth
