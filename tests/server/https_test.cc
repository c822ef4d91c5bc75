// SPDX-License-Identifier: Apache-2.0
// A listener with TLS that takes bodies, as a webhook has it, called by libcurl as the API server
// calls: by the Service's name, trusting the authorities it was told of.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "controller/certificates/certificate_facts.h"
#include "controller/certificates/certificate_maker.h"
#include "controller/live/uv_loop.h"
#include "controller/server/http_server.h"
#include "controller/server/serving_certificate.h"
#include "tests/server/https_caller.h"
#include "tests/server/plain_connection.h"

namespace berth {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::Not;

const Time kNow = std::chrono::time_point_cast<Time::duration>(std::chrono::system_clock::now());

CertificatePair authority(const char* name) {
  return make_authority(name, {kNow - 1h, kNow + 1h}).value();
}
CertificatePair leaf(const CertificatePair& of) {
  return make_leaf(of, {kService}, {kNow - 1h, kNow + 30min}).value();
}

class HttpsTest : public ::testing::Test {
 protected:
  // Runs the client beside the loop until it is through. What is posted comes back.
  void serve(const std::function<void(int port)>& client) {
    HttpServer server(loop_.raw(), limits_);
    const Result<int> port =
        server.listen({"127.0.0.1", 0},
                      [](const HttpCall& call) {
                        HttpResponse response;
                        response.body = std::string(call.method) + " " + std::string(call.path) +
                                        " " + std::string(call.body);
                        return response;
                      },
                      {.max_body_bytes = 100'000, .certificate = &certificate_});
    ASSERT_TRUE(port.has_value()) << describe(port.error());
    std::thread thread([&] {
      client(*port);
      loop_.post_from_any_thread([&] { loop_.stop(); });
    });
    loop_.run();
    thread.join();
  }
  void show(const CertificatePair& pair) {
    ASSERT_TRUE(certificate_.replace(pair.certificate, pair.key).has_value());
  }

  UvLoop loop_;
  HttpServerLimits limits_{.connections = 256};
  ServingCertificate certificate_;
  const CertificatePair authority_ = authority("one");
};

TEST_F(HttpsTest, ABodyArrivesWholeAndTheConnectionIsKept) {
  show(leaf(authority_));
  serve([&](int port) {
    Caller caller(port, authority_.certificate);
    for (const std::size_t size : {0u, 1u, 4'096u, 99'999u, 100'000u}) {
      const std::string text(size, 'x');
      ASSERT_EQ(caller.post(text, false), "");
      EXPECT_EQ(caller.status, 200);
      EXPECT_EQ(caller.body, "POST /m " + text) << size;
      EXPECT_EQ(caller.version, CURL_HTTP_VERSION_1_1);
    }
  });
}

TEST_F(HttpsTest, ABodyBeyondTheLimitIsRefused) {
  show(leaf(authority_));
  serve([&](int port) {
    Caller caller(port, authority_.certificate);
    ASSERT_EQ(caller.post(std::string(100'001, 'x'), true), "");
    EXPECT_EQ(caller.status, 413);
    ASSERT_EQ(caller.post("next", true), "");
    EXPECT_EQ(caller.body, "POST /m next");
  });
}

TEST_F(HttpsTest, WhoDoesNotSpeakTlsIsSentAway) {
  show(leaf(authority_));
  serve([&](int port) {
    Connection plain(port);
    ASSERT_TRUE(plain.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n"));
    EXPECT_THAT(plain.receive(), Not(HasSubstr("HTTP/1.1 2")));
    EXPECT_TRUE(plain.closed_by_peer());
    Caller caller(port, authority_.certificate);
    EXPECT_EQ(caller.post("x", true), "");
  });
}

TEST_F(HttpsTest, WhoIsSilentAfterItsHandshakeIsEndedSoon) {
  show(leaf(authority_));
  limits_ = {.idle_seconds = 1000, .request_seconds = 1};
  serve([&](int port) {
    Caller silent(port, authority_.certificate);
    ASSERT_EQ(silent.shake_hands(), "");
    EXPECT_TRUE(silent.ended_by_peer(60));
    Caller caller(port, authority_.certificate);
    EXPECT_EQ(caller.post("x", true), "");
  });
}

TEST_F(HttpsTest, BeforeACertificateIsThereHandshakesFailAndNothingElse) {
  serve([&](int port) {
    Caller caller(port, authority_.certificate);
    EXPECT_NE(caller.post("early", true), "");
    std::atomic<bool> shown = false;
    loop_.post_from_any_thread([&] {
      show(leaf(authority_));
      shown = true;
    });
    while (!shown) std::this_thread::yield();
    EXPECT_EQ(caller.post("now", true), "");
  });
}

TEST_F(HttpsTest, WhoTrustsAnotherAuthorityOrSpeaksOldTlsIsNotServed) {
  show(leaf(authority_));
  serve([&](int port) {
    Caller stranger(port, authority("two").certificate);
    EXPECT_NE(stranger.post("x", true), "");
    Caller caller(port, authority_.certificate);
    EXPECT_NE(caller.post("x", true, CURL_SSLVERSION_MAX_TLSv1_1), "");
    EXPECT_EQ(caller.post("x", true, CURL_SSLVERSION_MAX_TLSv1_2), "");
  });
}

// Leaf and authority change under callers that connect anew and callers that stay; those know both
// authorities, as the API server does while bundles overlap.
TEST_F(HttpsTest, AHundredRotationsFailNoCall) {
  const CertificatePair next = authority("next");
  const std::vector<CertificatePair> leaves = {leaf(authority_), leaf(next), leaf(authority_)};
  show(leaves[0]);
  int rotations = 0;
  std::atomic<bool> over = false;
  const std::function<void()> rotate = [&] {
    show(leaves[static_cast<std::size_t>(++rotations) % leaves.size()]);
    if (rotations == 100)
      over = true;
    else
      loop_.call_after(5ms, rotate);
  };
  loop_.call_after(5ms, rotate);
  std::atomic<int> calls = 0;
  serve([&](int port) {
    std::vector<std::thread> callers;
    for (int i = 0; i < 4; ++i)
      callers.emplace_back([&, i] {
        Caller caller(port, authority_.certificate + next.certificate);
        while (!over) {
          ASSERT_EQ(caller.post("x", i % 2 == 0), "");
          ++calls;
        }
      });
    for (std::thread& thread : callers) thread.join();
  });
  EXPECT_EQ(rotations, 100);
  EXPECT_GT(calls, 100);
}

TEST(ServingCertificate, WhatIsNoPairLeavesInForceWhatWas) {
  ServingCertificate certificate;
  const CertificatePair one = leaf(authority("a")), other = leaf(authority("b"));
  const auto refusal = [&](const std::string& chain, const std::string& key) {
    const Result<void> done = certificate.replace(chain, key);
    return done.has_value() ? "" : done.error().where + " " + done.error().message;
  };
  EXPECT_EQ(refusal("", one.key), "tls.crt holds no PEM certificate");
  EXPECT_EQ(refusal(one.certificate, ""), "tls.key holds no unencrypted PEM private key");
  EXPECT_FALSE(certificate.loaded());
  EXPECT_EQ(refusal(one.certificate, one.key), "");
  EXPECT_EQ(refusal(one.certificate, other.key),
            "tls.key is not the key of the first certificate in tls.crt");
  EXPECT_EQ(
      refusal(one.certificate + "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
              one.key),
      "tls.crt has a certificate after its first that can't be read");
  ASSERT_TRUE(certificate.not_after().has_value());
  EXPECT_EQ(*certificate.not_after(), std::chrono::floor<std::chrono::seconds>(kNow + 30min));
}

TEST(CertificateMaker, ALeafNeverOutlivesItsAuthority) {
  const CertificatePair of = authority("short");
  const CertificatePair made = make_leaf(of, {kService}, {kNow, kNow + 24h}).value();
  EXPECT_EQ(read_certificate_facts(made.certificate)->validity.until,
            read_certificate_facts(of.certificate)->validity.until);
  EXPECT_FALSE(make_leaf(of, {}, {kNow, kNow + 1h}).has_value());
  EXPECT_FALSE(make_leaf({}, {kService}, {kNow, kNow + 1h}).has_value());
}

}  // namespace
}  // namespace berth
