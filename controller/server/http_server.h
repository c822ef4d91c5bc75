// SPDX-License-Identifier: Apache-2.0
// HttpServer: serves HTTP/1.1 on the loop thread: GET and HEAD, and POST if a listener accepts
// bodies.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "apis/base/result.h"

struct uv_loop_s;

namespace berth {

class ClientAuthorities;
class HttpFeed;
class ServingCertificate;

// A client's request. Valid during the handler's call.
struct HttpCall {
  std::string_view method;  // "GET", "HEAD", "POST"
  std::string_view path;    // without the query
  std::string_view query;
  std::string_view content_type;  // of a POST; may be empty
  std::string_view body;
  // Headers; empty: absent.
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
  std::string head = {};                     // more headers, each ending in "\r\n"
  std::shared_ptr<HttpFeed> feed = nullptr;  // continues the response after the body; null: no feed
  // The server calls the handler again soon with the same request. It sends this response only if
  // the handler gives no final one within `still_seconds`.
  bool again = false;
};
// Called on the loop thread; must return at once.
using HttpHandler = std::function<HttpResponse(const HttpCall&)>;

struct ListenAddress {
  std::string host;  // empty: every address
  int port = 0;      // 0: any free one
  bool operator==(const ListenAddress&) const = default;
};
// ":8080", "127.0.0.1:8080", "[::1]:8080". The caller must first check for "0" and "", which
// disable the listener.
Result<ListenAddress> parse_listen_address(const std::string& flag, const std::string& text);

struct HttpServerLimits {
  // A new connection beyond this closes another one: see crowd.h.
  int connections = 64;
  int header_bytes = 4096;
  int idle_seconds = 15;  // of a connection since its last answer
  // to the first request; for a request to arrive; for the client to read the response
  int request_seconds = 10;
  // Until the next bytes of a request. With the chart's default, API servers wait no longer.
  int still_seconds = 3;
  // The memory for all POST requests that are arriving. A further one takes the place of the oldest
  // one, which gets 429: see post_room.h.
  int posts = 64;
  std::size_t posted_bytes = 32u << 20;
};

struct ListenOptions {
  std::size_t max_body_bytes = 0;             // of a POST; zero: refuses POST
  ServingCertificate* certificate = nullptr;  // TLS 1.2 or later; must outlive the server
  ClientAuthorities* clients = nullptr;       // null: serves any client; must outlive the server
};

class HttpServer {
 public:
  // The loop must outlive the server and must not run while the server is destroyed. The server
  // calls `on_large_gone` after a POST with a large body, so that the program can return its
  // memory.
  explicit HttpServer(uv_loop_s* loop, HttpServerLimits limits = {},
                      std::function<void()> on_large_gone = {});
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;
  ~HttpServer();

  // Returns the port. An error names the address.
  Result<int> listen(const ListenAddress& address, HttpHandler handler, ListenOptions options = {});
  // From now on each response closes its connection. Call it before the end, so that clients with
  // open connections go elsewhere and no request breaks off.
  void drain();
  // Asks feeds for output, and repeats unanswered requests, after `wait`, not only at the regular
  // times.
  void feed_in(std::chrono::nanoseconds wait);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace berth
