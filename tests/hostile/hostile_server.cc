// SPDX-License-Identifier: Apache-2.0
#include "tests/hostile/hostile_server.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

namespace berth::test {
namespace {

using namespace std::chrono_literals;

const char* kind_of(bool nodes) { return nodes ? "Node" : "Namespace"; }

}  // namespace

std::string chunked_head(const std::string& type) {
  return "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Type: " + type + "\r\n\r\n";
}

std::string chunk(std::string_view bytes) {
  return fmt::format("{:x}\r\n{}\r\n", bytes.size(), bytes);
}

std::string object(bool nodes) {
  return fmt::format(
      R"({{"kind":"{}","apiVersion":"v1","metadata":{{"name":"n1","uid":"u1","resourceVersion":"9"}}}})",
      kind_of(nodes));
}

std::string bookmark(bool nodes, bool end) {
  return fmt::format(
             R"({{"type":"BOOKMARK","object":{{"kind":"{}","metadata":{{"resourceVersion":"10"{}}}}}}})",
             kind_of(nodes), end ? R"(,"annotations":{"k8s.io/initial-events-end":"true"})" : "") +
         "\n";
}

HostileServer::HostileServer(Mode mode)
    : mode_(std::move(mode)),
      server_({.plain = true}, [this](const auto& request, auto& connection) {
        return serve(request, connection);
      }) {}

bool HostileServer::serve(const TlsServer::Request& request, TlsServer::Connection& connection) {
  const bool watch = request.line.find("watch=true") != std::string::npos;
  const bool nodes = request.line.find("/nodes") != std::string::npos;
  const int earlier = nodes ? nodes_++ : namespaces_++;
  if (honest_) return serve_honestly(watch, nodes, connection);
  std::size_t sent = 0;
  const auto write = [&](const std::string& bytes) {
    if (honest_ || !connection.send(bytes)) return false;
    sent += bytes.size();
    return true;
  };
  const auto reply = [&](int status, const std::string& body, const std::string& headers) {
    connection.reply(status, body, headers);
  };
  const bool again = mode_({watch, nodes, earlier, write, reply});
  std::size_t longest = longest_;
  while (longest < sent && !longest_.compare_exchange_weak(longest, sent)) {
  }
  return again;
}

bool HostileServer::serve_honestly(bool watch, bool nodes, TlsServer::Connection& connection) {
  if (!watch) {
    connection.reply(
        200,
        fmt::format(R"({{"metadata":{{"resourceVersion":"10"}},"items":[{}]}})", object(nodes)),
        "Content-Type: application/json\r\n");
    return true;
  }
  connection.send(chunked_head());
  connection.send(chunk(fmt::format(R"({{"type":"ADDED","object":{}}})", object(nodes)) + "\n" +
                        bookmark(nodes, true)));
  connection.pause(10min);  // or until the test is over
  return false;
}

}  // namespace berth::test
