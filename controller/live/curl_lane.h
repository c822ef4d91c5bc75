// SPDX-License-Identifier: Apache-2.0
// CurlLane: one curl multi handle on the uv loop, and with HTTP/2 one connection. Curl's callbacks
// run only from uv callbacks and only call this class. Callers of add() get the result through
// post().
#pragma once

#include <curl/curl.h>
#include <uv.h>

#include <functional>
#include <unordered_map>

#include "controller/live/uv_loop.h"

namespace berth {

class CurlLane {
 public:
  explicit CurlLane(UvLoop& loop);
  // All transfers must have ended or been removed.
  ~CurlLane();
  CurlLane(const CurlLane&) = delete;
  CurlLane& operator=(const CurlLane&) = delete;

  // Starts the transfer. `done` is posted once with its result, unless it is removed before. Don't
  // call this from inside curl's callbacks.
  void add(CURL* easy, std::function<void(CURLcode)> done);
  void remove(CURL* easy);

 private:
  struct Poll {
    uv_poll_t handle;
    curl_socket_t socket;
    CurlLane* lane;
  };
  static int on_socket(CURL* easy, curl_socket_t socket, int what, void* lane, void* poll);
  static int on_timer(CURLM* multi, long timeout_ms, void* lane);
  void watch_socket(curl_socket_t socket, int what, Poll* poll);
  void act(curl_socket_t socket, int events);
  void collect();

  UvLoop& loop_;
  CURLM* multi_;
  Loop::TimerId timer_ = 0;
  std::unordered_map<CURL*, std::function<void(CURLcode)>> done_;
};

}  // namespace berth
