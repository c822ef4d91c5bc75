// SPDX-License-Identifier: Apache-2.0
// Transport: HTTP requests out, bytes in. The seam between berth's API client and the network:
// live/ connects to a real API server with libcurl, a simulation answers from memory.
#pragma once

#include <chrono>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace berth {

// The connection that a request uses. A bulk LIST next to a PATCH on one HTTP/2 connection doubles
// the PATCH's tail latency, and a lease renewal must never queue behind either.
enum class Lane { kWatch, kWrite, kLease, kBulk };

struct HttpHeader {
  std::string name;  // as sent; compare without case
  std::string value;
};

struct HttpRequest {
  Lane lane = Lane::kWrite;
  std::string method;  // GET, POST, PATCH, DELETE, PUT
  std::string target;  // path and query, already escaped: "/api/v1/nodes?limit=500"
  std::vector<HttpHeader> headers;
  std::string body;
  // For the whole exchange; zero: none (watches).
  std::chrono::milliseconds deadline{0};
  // Longest silence between bytes before the exchange ends with kTimeout; zero: none. It protects
  // watches from half-open TCP connections.
  std::chrono::milliseconds idle_timeout{0};
  // Bytes of body accepted before the exchange ends with an error; zero: no limit (watches have a
  // limit per event).
  std::size_t max_body_bytes = 64u << 20;
};

enum class TransportOutcome {
  kComplete,
  kCannotConnect,
  kTlsFailed,
  kBroken,
  kTimeout,
  kTooLarge,
  kCancelled,
  kNoCredentials,  // nothing was sent: the credential plugin failed
};

// Receives one exchange: on_head at most once, then on_bytes any number of times (split anywhere),
// then on_end exactly once. Calls come from posted work, never from inside Transport::start.
class ResponseSink {
 public:
  virtual ~ResponseSink() = default;
  virtual void on_head(int status, const std::vector<HttpHeader>& headers) = 0;
  virtual void on_bytes(std::string_view bytes) = 0;
  // `detail` is the error for users; empty when complete. kBroken after the request was sent means:
  // unknown whether it was applied.
  virtual void on_end(TransportOutcome outcome, std::string detail) = 0;
};

class Transport {
 public:
  virtual ~Transport() = default;
  // Keeps the sink alive until on_end. When `stop` is requested, it closes the exchange and posts
  // on_end(kCancelled).
  virtual void start(HttpRequest request, std::shared_ptr<ResponseSink> sink,
                     std::stop_token stop) = 0;
};

}  // namespace berth
