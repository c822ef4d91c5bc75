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
#include "tests/client/fake_host.h"
#include "tests/io/recording_log.h"
#include "tests/live/tls_server.h"
#include "tests/support/certs.h"

namespace berth {
namespace {

using namespace std::chrono_literals;
using test::TlsServer;
using ::testing::HasSubstr;

// Generating keys takes a while; all tests share one authority.
test::Authority& authority() {
  static test::Authority shared;
  return shared;
}
const test::KeyPair& server_identity() {
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
  void serve(TlsServer::Handler handler, const std::string& client_ca = "",
             const std::string& name = "") {
    const test::KeyPair identity =
        name.empty() ? server_identity() : authority().issue_server({name});
    serve(TlsServer::Options{identity.certificate, identity.key, client_ca}, std::move(handler));
  }
  void serve(const TlsServer::Options& options, TlsServer::Handler handler) {
    server_ = std::make_unique<TlsServer>(options, std::move(handler));
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
    request.deadline = 10s;
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
  std::unique_ptr<TlsServer> server_;
  std::unique_ptr<CurlTransport> transport_;
  int open_ = 0;
};

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

TEST_F(CurlTransportTest, RefusesAServerItCannotVerify) {
  serve([](const TlsServer::Request&, TlsServer::Connection& connection) {
    connection.reply(200, "never");
    return true;
  });
  test::Authority other;
  config_.certificate_authority.data = other.certificate();
  auto got = exchange(get("/"));
  EXPECT_EQ(got->outcome, TransportOutcome::kTlsFailed);
  EXPECT_EQ(got->status, 0);
  EXPECT_THAT(got->detail, HasSubstr("certificate"));
}

TEST_F(CurlTransportTest, RefusesAnotherHostsCertificateUnlessToldItsName) {
  const auto handler = [](const TlsServer::Request& request, TlsServer::Connection& connection) {
    connection.reply(200, request.headers);
    return true;
  };
  serve(handler, "", "elsewhere.test");
  auto refused = exchange(get("/"));
  EXPECT_EQ(refused->outcome, TransportOutcome::kTlsFailed);

  transport_.reset();
  config_.tls_server_name = "elsewhere.test";
  auto accepted = exchange(get("/"));
  EXPECT_EQ(accepted->outcome, TransportOutcome::kComplete) << accepted->detail;
  EXPECT_THAT(accepted->body, HasSubstr("host: 127.0.0.1:" + std::to_string(server_->port())));
}

TEST_F(CurlTransportTest, ShowsItsClientCertificate) {
  serve(
      [](const TlsServer::Request&, TlsServer::Connection& connection) {
        connection.reply(200, connection.client_name());
        return true;
      },
      authority().certificate());
  auto without = exchange(get("/"));
  EXPECT_NE(without->outcome, TransportOutcome::kComplete);

  transport_.reset();
  const test::KeyPair client = authority().issue_client("berth-user", {"ops"});
  config_.client_certificate.data = client.certificate;
  config_.client_key.file = "/key.pem";
  host_.files["/key.pem"] = client.key;
  auto with = exchange(get("/"));
  EXPECT_EQ(with->outcome, TransportOutcome::kComplete) << with->detail;
  EXPECT_EQ(with->body, "berth-user");
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

// Each run of this plugin prints another token: run-1, run-2, …
TEST_F(CurlTransportTest, RunsACredentialPluginAgainAfterA401AndTriesOnce) {
  std::atomic<int> calls = 0;
  std::atomic<bool> open = true;
  serve([&](const TlsServer::Request& request, TlsServer::Connection& connection) {
    ++calls;
    const bool fresh = request.headers.find("Bearer run-1\n") == std::string::npos;
    connection.reply(fresh && open ? 200 : 401, "body");
    return true;
  });
  const std::string runs = ::testing::TempDir() + "/berth-plugin-runs";
  std::remove(runs.c_str());
  config_.exec =
      ExecPlugin{.where = "/k: users[0].user.exec",
                 .api_version = "client.authentication.k8s.io/v1",
                 .command = "sh",
                 .arguments = {"-c", "echo >> " + runs + "; n=$(wc -l < " + runs +
                                         "); test $n -le 4 || exit 3; echo '{\"kind\":"
                                         "\"ExecCredential\",\"apiVersion\":"
                                         "\"client.authentication.k8s.io/v1\",\"status\":"
                                         "{\"token\":\"run-'$n'\"}}'"},
                 .input = ExecPlugin::Input::kNever};
  auto first = exchange(get("/"));
  EXPECT_EQ(first->status, 200) << first->detail;
  EXPECT_EQ(calls, 2) << "run-1 is refused, run-2 is not";
  exchange(get("/"));
  EXPECT_EQ(calls, 3) << "run-2 is kept";

  open = false;
  auto refused = exchange(get("/"));
  EXPECT_EQ(refused->status, 401) << "run-3 is no better, and once is enough";
  EXPECT_EQ(refused->body, "body");
  EXPECT_EQ(calls, 5);
  exchange(get("/"));  // run-3 again, and run-4
  auto failed = exchange(get("/"));
  EXPECT_EQ(failed->outcome, TransportOutcome::kNoCredentials);
  EXPECT_THAT(failed->detail, HasSubstr("sh failed with exit code 3"));
}

TEST_F(CurlTransportTest, ReadsTheTokenAgainAfterA401AndTriesOnce) {
  std::atomic<int> calls = 0;
  serve([&](const TlsServer::Request& request, TlsServer::Connection& connection) {
    ++calls;
    const bool fresh = request.headers.find("Bearer new") != std::string::npos;
    if (fresh) {
      connection.reply(200, request.body);
    } else {
      connection.reply(401, "who are you");
    }
    return true;
  });
  config_.token_file = "/token";
  host_.files["/token"] = "old\n";
  HttpRequest request = get("/");
  request.method = "POST";
  request.body = "{}";
  auto stale = exchange(request);
  EXPECT_EQ(stale->status, 401) << "nothing newer to try";
  EXPECT_EQ(stale->body, "who are you");
  EXPECT_EQ(calls, 1);

  host_.files["/token"] = "new\n";
  auto renewed = exchange(request);
  EXPECT_EQ(renewed->status, 200);
  EXPECT_EQ(renewed->body, "{}");
  EXPECT_EQ(calls, 3);

  host_.files["/token"] = FakeHost::kUnreadable;
  auto kept = exchange(request);
  EXPECT_EQ(kept->status, 200) << "the last good token stands";
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

// Curl would send this again on a new connection; a write may have been applied.
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

// Nobody may wait for a watch's end, which is minutes away: neither where the server says what it
// speaks, nor where it says nothing and its first watch neither.
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
