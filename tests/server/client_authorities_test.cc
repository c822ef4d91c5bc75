// SPDX-License-Identifier: Apache-2.0
// A listener that asks its callers for a certificate: whom it answers, whom it does not, and that
// its authorities can be exchanged meanwhile.
#include "controller/server/client_authorities.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <thread>

#include "controller/live/uv_loop.h"
#include "controller/server/http_server.h"
#include "controller/server/mounted_files.h"
#include "controller/server/serving_certificate.h"
#include "tests/client/fake_host.h"
#include "tests/io/recording_log.h"
#include "tests/server/https_caller.h"
#include "tests/support/certs.h"

namespace berth {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

CertificatePair client_of(test::Authority& authority, const std::string& name) {
  const test::KeyPair made = authority.issue_client(name, {"system:masters"});
  return {made.certificate, made.key};
}

class ClientAuthoritiesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const test::KeyPair pair = own_.issue_server({kService});
    ASSERT_TRUE(certificate_.replace(pair.certificate, pair.key).has_value());
  }
  // Runs the caller beside the loop until it is through.
  void serve(ClientAuthorities& clients, const std::function<void(int port)>& caller) {
    HttpServer server(loop_.raw());
    const Result<int> port = server.listen(
        {"127.0.0.1", 0}, [](const HttpCall&) { return HttpResponse{.body = "answered"}; },
        {.max_body_bytes = 1000, .certificate = &certificate_, .clients = &clients});
    ASSERT_TRUE(port.has_value()) << describe(port.error());
    std::thread thread([&] {
      caller(*port);
      loop_.post_from_any_thread([&] { loop_.stop(); });
    });
    loop_.run();
    thread.join();
  }
  // Empty, or why a caller that shows this was not answered.
  std::string call(int port, const CertificatePair& shown = {}, long max_tls = 0) {
    Caller caller(port, own_.certificate(), shown);
    const std::string fault = caller.post("x", true, max_tls);
    EXPECT_EQ(caller.body, fault.empty() ? "answered" : "");
    return fault;
  }

  UvLoop loop_;
  RecordingLog log_;
  ServingCertificate certificate_;
  test::Authority own_, api_, other_;  // the webhook's; the API server's; somebody's
};

TEST_F(ClientAuthoritiesTest, OnlyTheApiServerIsAnswered) {
  ClientAuthorities clients("apiserver");
  ASSERT_TRUE(clients.replace(api_.certificate()).has_value());
  const test::KeyPair server = api_.issue_server({"apiserver"});
  serve(clients, [&](int port) {
    for (const long tls : {CURL_SSLVERSION_MAX_TLSv1_2, CURL_SSLVERSION_MAX_TLSv1_3}) {
      EXPECT_EQ(call(port, client_of(api_, "apiserver"), tls), "");
      EXPECT_THAT(call(port, {}, tls), Not(IsEmpty())) << "shows none";
      EXPECT_THAT(call(port, client_of(other_, "apiserver"), tls), Not(IsEmpty()));
      EXPECT_THAT(call(port, client_of(api_, "apiserver2"), tls), Not(IsEmpty()));
      EXPECT_THAT(call(port, client_of(own_, "apiserver"), tls), Not(IsEmpty()));
      EXPECT_THAT(call(port, {server.certificate, server.key}, tls), Not(IsEmpty()))
          << "a server's is no client's";
    }
    Caller kept(port, own_.certificate(), client_of(api_, "apiserver"));
    for (int i = 0; i < 5; ++i) EXPECT_EQ(kept.post("x", i == 3), "");
  });
}

TEST_F(ClientAuthoritiesTest, WithoutANameEveryClientOfTheAuthoritiesIs) {
  ClientAuthorities clients;
  ASSERT_TRUE(clients.replace(other_.certificate() + api_.certificate()).has_value());
  serve(clients, [&](int port) {
    EXPECT_EQ(call(port, client_of(api_, "one")), "");
    EXPECT_EQ(call(port, client_of(other_, "two")), "");
    EXPECT_THAT(call(port), Not(IsEmpty()));
  });
}

TEST_F(ClientAuthoritiesTest, TheyAreExchangedUnderConnectionsThatStand) {
  ClientAuthorities clients;
  const auto trust = [&](const std::string& pem) {
    std::atomic<bool> done = false;
    loop_.post_from_any_thread([&] {
      EXPECT_TRUE(clients.replace(pem).has_value());
      done = true;
    });
    while (!done) std::this_thread::yield();
  };
  serve(clients, [&](int port) {
    EXPECT_THAT(call(port, client_of(api_, "a")), Not(IsEmpty())) << "none is trusted yet";
    trust(api_.certificate());
    Caller stays(port, own_.certificate(), client_of(api_, "a"));
    EXPECT_EQ(stays.post("x", false), "");
    trust(other_.certificate());
    EXPECT_EQ(stays.post("x", false), "");
    EXPECT_THAT(stays.post("x", true), Not(IsEmpty())) << "a session is not taken up again";
    EXPECT_EQ(call(port, client_of(other_, "b")), "");
  });
}

TEST_F(ClientAuthoritiesTest, AFileThatCantBeReadLeavesInForceWhatWas) {
  FakeHost host;
  ClientAuthorities clients;
  MountedFiles file = client_authority_file(host, log_, clients, "/ca.crt");
  const auto read = [&](const char* text) {
    if (text != nullptr) host.files["/ca.crt"] = text;
    file.refresh();
    return file.taken();
  };
  EXPECT_FALSE(read(nullptr));
  EXPECT_FALSE(read(""));
  EXPECT_THAT(log_.lines, Contains(HasSubstr("holds no PEM certificate")));
  EXPECT_TRUE(read(api_.certificate().c_str()));
  const std::string junk =
      other_.certificate() + "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
  EXPECT_TRUE(read(junk.c_str()));
  EXPECT_THAT(log_.lines, Contains(HasSubstr("has a certificate that can't be read")));
  serve(clients, [&](int port) {
    EXPECT_EQ(call(port, client_of(api_, "a")), "");
    EXPECT_THAT(call(port, client_of(other_, "a")), Not(IsEmpty()));
  });
}

}  // namespace
}  // namespace berth
