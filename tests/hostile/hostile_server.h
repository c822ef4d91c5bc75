// SPDX-License-Identifier: Apache-2.0
// HostileServer: an API server that is correct in every way but one: lists and watches of nodes and
// namespaces over HTTP/1.1 that never end, lie, or overflow, until behave() is called.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include "tests/live/tls_server.h"

namespace berth::test {

class HostileServer {
 public:
  // One request while the server is hostile. It may write as long as write() is true.
  struct Ask {
    bool watch;
    bool nodes;                                           // else namespaces
    int earlier;                                          // earlier requests for the same kind
    std::function<bool(const std::string& bytes)> write;  // false: gone, or the server behaves
    std::function<void(int status, const std::string& body, const std::string& headers)> reply;
  };
  // True: the connection may be used again.
  using Mode = std::function<bool(const Ask&)>;

  explicit HostileServer(Mode mode);
  int port() const { return server_.port(); }
  int asked(bool nodes) const { return nodes ? nodes_ : namespaces_; }
  // The most bytes that a client accepted of one reply.
  std::size_t longest_reply() const { return longest_; }
  void behave() { honest_ = true; }

 private:
  bool serve(const TlsServer::Request& request, TlsServer::Connection& connection);
  bool serve_honestly(bool watch, bool nodes, TlsServer::Connection& connection);

  Mode mode_;
  std::atomic<bool> honest_{false};
  std::atomic<int> nodes_{0}, namespaces_{0};
  std::atomic<std::size_t> longest_{0};
  TlsServer server_;  // last: its threads use the others
};

// The head of a body without a length.
std::string chunked_head(const std::string& type = "application/json");
std::string chunk(std::string_view bytes);
std::string object(bool nodes);
std::string bookmark(bool nodes, bool end);

}  // namespace berth::test
