// SPDX-License-Identifier: Apache-2.0
// The real transport with a TLS server of the test's own, on a real loop.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "controller/live/curl_transport.h"
#include "tests/client/fake_host.h"
#include "tests/io/recording_log.h"
#include "tests/live/tls_server.h"
#include "tests/support/certs.h"

namespace berth {

// Generating keys takes a while; all tests share one authority.
inline test::Authority& authority() {
  static test::Authority shared;
  return shared;
}
inline const test::KeyPair& server_identity() {
  static const test::KeyPair shared = authority().issue_server({"127.0.0.1", "berth.test"});
  return shared;
}

struct Received : public ResponseSink {
  explicit Received(UvLoop& l) : loop(l) {}
  void on_head(int code, const std::vector<HttpHeader>& h) override {
    status = code;
    headers = h;
  }
  void on_bytes(std::string_view bytes) override {
    body += bytes;
    ++pieces;
    if (on_piece) on_piece();
  }
  void on_end(TransportOutcome how, std::string why) override {
    outcome = how;
    detail = std::move(why);
    ended = true;
    if (on_done) on_done();
  }
  UvLoop& loop;
  int status = 0;
  std::vector<HttpHeader> headers;
  std::string body;
  int pieces = 0;
  bool ended = false;
  TransportOutcome outcome = TransportOutcome::kComplete;
  std::string detail;
  std::function<void()> on_piece;
  std::function<void()> on_done;
};

class CurlTransportTest : public ::testing::Test {
 protected:
  void serve(test::TlsServer::Handler handler, const std::string& client_ca = "",
             const std::string& name = "") {
    const test::KeyPair identity =
        name.empty() ? server_identity() : authority().issue_server({name});
    serve(test::TlsServer::Options{identity.certificate, identity.key, client_ca},
          std::move(handler));
  }
  void serve(const test::TlsServer::Options& options, test::TlsServer::Handler handler) {
    server_ = std::make_unique<test::TlsServer>(options, std::move(handler));
    config_.server = (options.plain ? "http://127.0.0.1:" : "https://127.0.0.1:") +
                     std::to_string(server_->port());
    config_.certificate_authority.data = authority().certificate();
  }
  CurlTransport& transport() {
    if (!transport_) transport_ = std::make_unique<CurlTransport>(loop_, host_, log_, config_);
    return *transport_;
  }
  static HttpRequest get(std::string target) {
    HttpRequest request;
    request.method = "GET";
    request.target = std::move(target);
    request.deadline = std::chrono::seconds(10);
    return request;
  }
  std::shared_ptr<Received> start(HttpRequest request, std::stop_token stop = {}) {
    auto sink = std::make_shared<Received>(loop_);
    ++open_;
    sink->on_done = [this] {
      if (--open_ == 0) loop_.stop();
    };
    transport().start(std::move(request), sink, std::move(stop));
    EXPECT_FALSE(sink->ended) << "called back from inside start()";
    return sink;
  }
  std::shared_ptr<Received> exchange(HttpRequest request, std::stop_token stop = {}) {
    auto sink = start(std::move(request), std::move(stop));
    loop_.run();
    return sink;
  }

  UvLoop loop_;
  FakeHost host_;
  RecordingLog log_;
  ClientConfig config_;
  std::unique_ptr<test::TlsServer> server_;
  std::unique_ptr<CurlTransport> transport_;
  int open_ = 0;
};

}  // namespace berth
