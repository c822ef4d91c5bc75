// SPDX-License-Identifier: Apache-2.0
// HttpServer: request in, response out, on the loop's thread, by HTTP/1.1. GET and HEAD, and POST
// where a listener takes bodies.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "apis/result.h"

struct uv_loop_s;

namespace berth {

class ClientAuthorities;
class HttpFeed;
class ServingCertificate;

// What a client asks. Valid during the handler's call.
struct HttpCall {
  std::string_view method;  // "GET", "HEAD", "POST"
  std::string_view path;    // without the query
  std::string_view query;
  std::string_view content_type;  // of a POST; may be empty
  std::string_view body;
  // Heads; empty: not sent.
  std::string_view host;
  std::string_view accept_encoding;
  std::string_view if_none_match;
  std::string_view last_event_id;
  std::string_view authorization;
};
struct HttpResponse {
  int status = 200;
  std::string content_type = "text/plain; charset=utf-8";
  std::string body;
  std::string head = {};                     // more lines of it, each ended by "\r\n"
  std::shared_ptr<HttpFeed> feed = nullptr;  // what goes on after the body; null: nothing
  // The handler is called again with the same request in a moment, and this response is sent only
  // if none of its answers within `still_seconds` is a final one.
  bool again = false;
};
// Called on the loop's thread; must answer at once.
using HttpHandler = std::function<HttpResponse(const HttpCall&)>;

struct ListenAddress {
  std::string host;  // empty: every address
  int port = 0;      // 0: any free one
  bool operator==(const ListenAddress&) const = default;
};
// ":8080", "127.0.0.1:8080", "[::1]:8080". "0" and "" switch the listener off: that is the caller's
// to check first.
Result<ListenAddress> parse_listen_address(const std::string& flag, const std::string& text);

struct HttpServerLimits {
  // One more takes the place of another: see crowd.h.
  int connections = 64;
  int header_bytes = 4096;
  int idle_seconds = 15;     // of a connection, since its last answer
  int request_seconds = 10;  // to ask first, for a request to arrive and its response to be taken
  // Until the next bytes of a request: with the chart's default the API server asks for no longer.
  int still_seconds = 3;
  // What all POSTs that are on their way may hold together; one more takes the place of the one
  // that has been on its way for longest, which is answered 429: see post_room.h.
  int posts = 64;
  std::size_t posted_bytes = 32u << 20;
};

struct ListenOptions {
  std::size_t max_body_bytes = 0;             // of a POST; zero: none is taken
  ServingCertificate* certificate = nullptr;  // TLS 1.2 or later; outlives the server
  ClientAuthorities* clients = nullptr;  // none: anybody's calls are taken; outlives the server
};

class HttpServer {
 public:
  // The loop must outlive the server and not be running when the server is destroyed.
  // `on_large_gone` is called after a POST whose body was large: its memory can be given back.
  explicit HttpServer(uv_loop_s* loop, HttpServerLimits limits = {},
                      std::function<void()> on_large_gone = {});
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;
  ~HttpServer();

  // The port it listens on. An error names the address.
  Result<int> listen(const ListenAddress& address, HttpHandler handler, ListenOptions options = {});
  // From now on each response ends its connection: before an end, so that clients which keep
  // connections go elsewhere and none is cut in the middle of a request.
  void drain();
  // Feeds are asked for what comes next after so long, and handlers again, and not only now and
  // then.
  void feed_in(std::chrono::nanoseconds wait);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace berth
