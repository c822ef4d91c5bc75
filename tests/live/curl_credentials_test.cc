// SPDX-License-Identifier: Apache-2.0
// How the transport verifies the server, and how it authenticates itself.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdio>
#include <string>

#include "tests/live/curl_exchange.h"

namespace berth {
namespace {

using test::TlsServer;
using ::testing::HasSubstr;

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

}  // namespace
}  // namespace berth
