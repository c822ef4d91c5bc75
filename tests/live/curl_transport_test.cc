// SPDX-License-Identifier: Apache-2.0
#include "controller/live/curl_transport.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "controller/live/http_checks.h"
#include "tests/live/curl_exchange.h"

namespace berth {
namespace {

using namespace std::chrono_literals;
using test::TlsServer;
using ::testing::HasSubstr;

TEST_F(CurlTransportTest, SendsWhatItIsGivenAndBringsBackWhatComes) {
  std::mutex mutex;
  TlsServer::Request seen;
  serve([&](const TlsServer::Request& request, TlsServer::Connection& connection) {
    const std::lock_guard<std::mutex> lock(mutex);
    seen = request;
    connection.reply(409, "conflict", "Warning: 299 - \"w\"\r\n");
    return true;
  });
  config_.token = "secret";
  config_.impersonate_user = "robot";
  config_.impersonate_groups = {"a", "b"};
  HttpRequest request = get("/api/v1/nodes/%2E%2E?x=%0D%0A");
  request.method = "PATCH";
  request.body = std::string(100'000, 'x');
  request.headers = {{"Content-Type", "application/json-patch+json"},
                     {"User-Agent", "berth/1 (t)"}};
  auto got = exchange(request);
  EXPECT_EQ(got->outcome, TransportOutcome::kComplete) << got->detail;
  EXPECT_EQ(got->status, 409);
  EXPECT_EQ(got->body, "conflict");
  const std::lock_guard<std::mutex> lock(mutex);
  EXPECT_EQ(seen.line, "PATCH /api/v1/nodes/%2E%2E?x=%0D%0A HTTP/1.1");
  EXPECT_EQ(seen.body, request.body);
  for (const char* header :
       {"authorization: Bearer secret\n", "content-type: application/json-patch+json\n",
        "user-agent: berth/1 (t)\n", "impersonate-user: robot\n", "impersonate-group: a\n",
        "impersonate-group: b\n"}) {
    EXPECT_THAT(seen.headers, HasSubstr(header));
  }
  EXPECT_THAT(seen.headers, Not(HasSubstr("expect:")));
  EXPECT_THAT(seen.headers, Not(HasSubstr("accept-encoding:")));
}

TEST_F(CurlTransportTest, StreamsPiecesAsTheyComeAndStopsWhenAsked) {
  serve([](const TlsServer::Request&, TlsServer::Connection& connection) {
    connection.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    connection.send("7\r\n{\"type\"\r\n");
    connection.pause(50ms);
    connection.send("6\r\n:\"A\"}\n\r\n");
    connection.pause(20s);
    return false;
  });
  HttpRequest watch = get("/api/v1/pods?watch=true");
  watch.lane = Lane::kWatch;
  watch.deadline = 0s;
  watch.max_body_bytes = 0;
  std::stop_source stop;
  auto got = start(watch, stop.get_token());
  got->on_piece = [&, raw = got.get()] {
    if (raw->body == "{\"type\":\"A\"}\n") stop.request_stop();
  };
  const MonotonicTime begun = loop_.now();
  loop_.run();
  EXPECT_EQ(got->outcome, TransportOutcome::kCancelled);
  EXPECT_EQ(got->body, "{\"type\":\"A\"}\n");
  EXPECT_GE(got->pieces, 2);
  EXPECT_LT(loop_.now() - begun, 10s);
}

TEST_F(CurlTransportTest, EndsAtItsDeadlineAndAfterSilence) {
  serve([](const TlsServer::Request& request, TlsServer::Connection& connection) {
    if (request.line.starts_with("GET /stream")) {
      connection.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n{}\n\r\n");
    }
    connection.pause(20s);
    return false;
  });
  HttpRequest late = get("/never");
  late.deadline = 200ms;
  auto timed_out = exchange(late);
  EXPECT_EQ(timed_out->outcome, TransportOutcome::kTimeout);
  EXPECT_THAT(timed_out->detail, HasSubstr("200 ms"));

  HttpRequest stream = get("/stream");
  stream.deadline = 0s;
  stream.idle_timeout = 300ms;
  auto silent = exchange(stream);
  EXPECT_EQ(silent->outcome, TransportOutcome::kTimeout);
  EXPECT_EQ(silent->status, 200);
  EXPECT_EQ(silent->body, "{}\n");
  EXPECT_EQ(server_->connections(), 2) << "a connection that said nothing is not used again";
}

TEST_F(CurlTransportTest, StopsReadingWhatIsTooLarge) {
  serve([](const TlsServer::Request& request, TlsServer::Connection& connection) {
    if (request.line.starts_with("GET /headers")) {
      connection.reply(200, "", "X: " + std::string(70'000, 'h') + "\r\n");
    } else {
      connection.reply(200, std::string(5'000, 'b'));
    }
    return true;
  });
  HttpRequest small = get("/");
  small.max_body_bytes = 4'999;
  auto too_large = exchange(small);
  EXPECT_EQ(too_large->outcome, TransportOutcome::kTooLarge);
  EXPECT_THAT(too_large->detail, HasSubstr("4999"));
  small.max_body_bytes = 5'000;
  EXPECT_EQ(exchange(small)->outcome, TransportOutcome::kComplete);
  EXPECT_EQ(exchange(get("/headers"))->outcome, TransportOutcome::kTooLarge);
}

TEST_F(CurlTransportTest, SaysThatNobodyAnswers) {
  serve([](const TlsServer::Request&, TlsServer::Connection&) { return false; });
  server_.reset();
  auto got = exchange(get("/"));
  EXPECT_EQ(got->outcome, TransportOutcome::kCannotConnect);
  EXPECT_THAT(got->detail, HasSubstr(config_.server));
  EXPECT_THAT(got->detail, HasSubstr("refused"));
}

// curl would send this again on a new connection; a write may have been applied.
TEST_F(CurlTransportTest, AWriteWhoseConnectionDiedIsNotRepeated) {
  std::atomic<int> posts = 0;
  serve([&](const TlsServer::Request& request, TlsServer::Connection& connection) {
    if (request.line.starts_with("GET")) {
      connection.reply(200, "warm");
      return true;
    }
    ++posts;
    return false;
  });
  EXPECT_EQ(exchange(get("/"))->status, 200);
  HttpRequest post = get("/");
  post.method = "POST";
  post.body = "{\"a\":1}";
  auto got = exchange(post);
  EXPECT_EQ(got->outcome, TransportOutcome::kBroken) << got->detail;
  EXPECT_EQ(posts, 1);
}

TEST_F(CurlTransportTest, LanesKeepTheirConnectionsApartAndUseThemAgain) {
  serve([](const TlsServer::Request& request, TlsServer::Connection& connection) {
    connection.reply(200, request.line);
    return true;
  });
  for (int i = 0; i < 3; ++i) {
    for (const Lane lane : {Lane::kWrite, Lane::kLease}) {
      HttpRequest request = get("/" + std::to_string(i));
      request.lane = lane;
      EXPECT_EQ(exchange(request)->status, 200);
    }
  }
  EXPECT_EQ(server_->connections(), 2);
}

TEST_F(CurlTransportTest, ManyAtOnceEachGetTheirOwnReply) {
  serve([](const TlsServer::Request& request, TlsServer::Connection& connection) {
    connection.reply(200, request.line);
    return true;
  });
  std::map<int, std::shared_ptr<Received>> all;
  for (int i = 0; i < 50; ++i) all[i] = start(get("/" + std::to_string(i)));
  loop_.run();
  for (const auto& [i, got] : all) {
    EXPECT_EQ(got->outcome, TransportOutcome::kComplete) << got->detail;
    EXPECT_EQ(got->body, "GET /" + std::to_string(i) + " HTTP/1.1");
  }
}

// No request may wait for the end of a watch, which is minutes away: neither if the server
// announces its protocol, nor if it does not and its first watch has no reply yet.
TEST_F(CurlTransportTest, WatchesDoNotWaitForEachOtherOnHttp1) {
  struct Case {
    const char* sentence;
    bool plain, names_http1, heads_at_once;
  };
  const Case cases[] = {{"without TLS, heads sent", true, false, true},
                        {"without TLS, silent", true, false, false},
                        {"TLS with ALPN, heads sent", false, true, true},
                        {"TLS with ALPN, silent", false, true, false},
                        {"TLS without ALPN, heads sent", false, false, true},
                        {"TLS without ALPN, silent", false, false, false}};
  for (const Case& c : cases) {
    SCOPED_TRACE(c.sentence);
    constexpr int kWatches = 8;
    std::mutex mutex;
    std::condition_variable all_here;
    int asked = 0;
    const test::KeyPair& identity = server_identity();
    TlsServer::Options options{.certificate = identity.certificate, .key = identity.key};
    options.plain = c.plain;
    options.names_http1 = c.names_http1;
    serve(options, [&](const TlsServer::Request&, TlsServer::Connection& connection) {
      const std::string head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
      if (c.heads_at_once) connection.send(head);
      std::unique_lock lock(mutex);
      ++asked;
      all_here.notify_all();
      const bool together = all_here.wait_for(lock, 30s, [&] { return asked == kWatches; });
      lock.unlock();
      if (!c.heads_at_once) connection.send(head);
      if (together) connection.send("3\r\nall\r\n0\r\n\r\n");
      return together;
    });
    std::vector<std::shared_ptr<Received>> watches;
    for (int i = 0; i < kWatches; ++i) {
      HttpRequest watch = get("/watch/" + std::to_string(i));
      watch.lane = Lane::kWatch;
      watch.deadline = 60s;
      watches.push_back(start(watch));
    }
    loop_.run();
    for (const auto& watch : watches) {
      EXPECT_EQ(watch->outcome, TransportOutcome::kComplete) << watch->detail;
      EXPECT_EQ(watch->body, "all") << "the others were not asked while it was open";
    }
    transport_.reset();
  }
}

TEST_F(CurlTransportTest, DestroyedInMidStreamLeavesNothing) {
  serve([](const TlsServer::Request&, TlsServer::Connection& connection) {
    connection.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n{}\n\r\n");
    connection.pause(20s);
    return false;
  });
  auto got = start(get("/"));
  got->on_piece = [this] { loop_.stop(); };
  loop_.run();
  transport_.reset();
  EXPECT_FALSE(got->ended);
}

TEST_F(CurlTransportTest, NothingThatWouldInjectIsSent) {
  serve([](const TlsServer::Request&, TlsServer::Connection& connection) {
    connection.reply(200, "");
    return true;
  });
  HttpRequest target = get("/a\r\nX: y");
  HttpRequest header = get("/");
  header.headers = {{"X", "a\r\nY: b"}};
  for (const HttpRequest& bad : {target, header}) {
    EXPECT_EQ(exchange(bad)->outcome, TransportOutcome::kBroken);
  }
  EXPECT_EQ(server_->connections(), 0);
}

TEST(HttpChecks, SplitsServers) {
  const ServerAddress v6 = split_server("https://[fd00::1]:6443/k8s/c");
  EXPECT_EQ(v6.host, "[fd00::1]");
  EXPECT_EQ(v6.port, "6443");
  EXPECT_EQ(v6.path, "/k8s/c");
  const ServerAddress bare = split_server("https://api");
  EXPECT_EQ(bare.host, "api");
  EXPECT_EQ(bare.port, "443");
  EXPECT_EQ(bare.authority, "api");
  EXPECT_EQ(split_server("https://[::1]").port, "443");
  EXPECT_EQ(split_server("http://localhost:8001").port, "8001");
}

}  // namespace
}  // namespace berth
