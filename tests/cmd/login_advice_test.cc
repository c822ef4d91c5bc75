// SPDX-License-Identifier: Apache-2.0
#include "controller/cmd/cluster/login_advice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apis/base/base64.h"
#include "controller/certificates/certificate_maker.h"
#include "tests/client/fake_host.h"

namespace berth {
namespace {

using testing::HasSubstr;
using testing::Not;

const Time kNow = *parse_time("2026-11-23T12:00:00Z");

std::string advice(ClientConfig config, const FakeHost& host = {}) {
  config.origin = "context prod of /home/u/.kube/config";
  return login_advice(config, host, kNow);
}

std::string certificate(const char* from, const char* until) {
  return make_authority("u", {.from = *parse_time(from), .until = *parse_time(until)})->certificate;
}

// Header and signature do not matter here.
std::string web_token(const std::string& claims) {
  std::string payload = encode_base64(claims);
  payload.erase(payload.find_last_not_of('=') + 1);
  for (char& c : payload) c = c == '+' ? '-' : c == '/' ? '_' : c;
  return "e30." + payload + ".sig";
}

TEST(LoginAdvice, AnEndedCertificateIsNamedWithItsEnd) {
  FakeHost host;
  host.files["/u/exp.crt"] = certificate("2020-01-01T00:00:00Z", "2021-01-01T00:00:00Z");
  ClientConfig by_file;
  by_file.client_certificate.file = "/u/exp.crt";
  EXPECT_EQ(advice(by_file, host),
            "the client certificate /u/exp.crt ended on 2021-01-01; have a new one signed");
  ClientConfig inline_;
  inline_.client_certificate.data = host.files["/u/exp.crt"];
  EXPECT_THAT(advice(inline_), HasSubstr("in context prod of /home/u/.kube/config ended on"));
}

TEST(LoginAdvice, AnotherCertificateIsSomebodyElses) {
  ClientConfig config;
  config.client_certificate.data = certificate("2026-01-01T00:00:00Z", "2027-01-01T00:00:00Z");
  EXPECT_THAT(advice(config), HasSubstr("does not know who signed it"));
  config.client_certificate.data = certificate("2026-12-01T00:00:00Z", "2027-01-01T00:00:00Z");
  EXPECT_THAT(advice(config), HasSubstr("begins on 2026-12-01 only"));
}

TEST(LoginAdvice, AnEndedTokenIsNamedWithItsEnd) {
  ClientConfig config;
  config.token = web_token(R"({"sub":"~~~???","exp":1700000000})");
  EXPECT_EQ(
      advice(config),
      "the token in context prod of /home/u/.kube/config ended at 2023-11-14T22:13:20Z; log in "
      "again, or put a new one there");
  EXPECT_THAT(advice(config), Not(HasSubstr(config.token))) << "it is a secret";
  FakeHost host;
  host.files["/t"] = config.token;
  ClientConfig by_file;
  by_file.token_file = "/t";
  EXPECT_THAT(advice(by_file, host), HasSubstr("the token in /t ended at"));
}

TEST(LoginAdvice, WhatIsNoWebTokenHasItsRemedyAllTheSame) {
  for (const std::string& token :
       {std::string("abc"), std::string("a.b"), std::string(".."), std::string("a.%%%%.c"),
        web_token("[]"), web_token(R"({"exp":"soon"})"), web_token(R"({"exp":-1})"),
        web_token(R"({"exp":9999999999999999})"), web_token(R"({"exp":1900000000})")}) {
    ClientConfig config;
    config.token = token;
    EXPECT_THAT(advice(config), HasSubstr("is not accepted: it is another cluster's")) << token;
  }
}

TEST(LoginAdvice, OtherWaysToLogInAreNamed) {
  ClientConfig exec;
  exec.exec = ExecPlugin{.command = "aws"};
  EXPECT_THAT(advice(exec), HasSubstr("the credential plugin aws"));
  ClientConfig basic;
  basic.username = "u";
  EXPECT_THAT(advice(basic), HasSubstr("since 1.19"));
  EXPECT_THAT(advice({}), HasSubstr("says nobody to log in as"));
}

}  // namespace
}  // namespace berth
