// SPDX-License-Identifier: Apache-2.0
// The kind of error of a failed answer from the API server, or from a proxy in front of it.
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "apis/codec/decode.h"

namespace berth {
namespace {

struct StatusCase {
  const char* what;
  int code;
  const char* body;
  ErrorKind kind;
  const char* says;
};

TEST(DecodeStatus, TellsKindsByCodeAndReason) {
  const StatusCase cases[] = {
      {"not found", 404,
       R"({"kind":"Status","reason":"NotFound","message":"pods \"x\" not found","code":404})",
       ErrorKind::kNotFound, "not found"},
      {"already exists", 409,
       R"({"kind":"Status","reason":"AlreadyExists","message":"m","code":409})",
       ErrorKind::kAlreadyExists, "m"},
      {"conflict", 409, R"({"kind":"Status","reason":"Conflict","message":"m","code":409})",
       ErrorKind::kConflict, "m"},
      {"expired", 410, R"({"kind":"Status","reason":"Expired","message":"m","code":410})",
       ErrorKind::kGone, "m"},
      {"a failed JSON patch test", 422,
       R"({"kind":"Status","reason":"Invalid","message":"the server rejected our request due to an error in our request","details":{},"code":422})",
       ErrorKind::kConflict, "rejected"},
      {"an object the server refuses", 422,
       R"({"kind":"Status","reason":"Invalid","message":"m","details":{"causes":[{"reason":"FieldValueInvalid","message":"bad","field":"spec.x"}]},"code":422})",
       ErrorKind::kInvalid, "m"},
      {"a budget that closes", 429,
       R"({"kind":"Status","reason":"TooManyRequests","message":"m","details":{"causes":[{"reason":"DisruptionBudget","message":"d"}],"retryAfterSeconds":10},"code":429})",
       ErrorKind::kThrottled, "m"},
      {"two budgets", 500,
       R"({"kind":"Status","message":"This pod has more than one PodDisruptionBudget","code":500})",
       ErrorKind::kServer, "more than one"},
      {"too large a resource version", 504,
       R"({"kind":"Status","reason":"Timeout","message":"m","details":{"causes":[{"reason":"ResourceVersionTooLarge","message":"Too large resource version"}]},"code":504})",
       ErrorKind::kTimeout, "m"},
      {"unauthorized", 401,
       R"({"kind":"Status","reason":"Unauthorized","message":"Unauthorized","code":401})",
       ErrorKind::kUnauthorized, "Unauthorized"},
      {"forbidden", 403, R"({"kind":"Status","reason":"Forbidden","message":"m","code":403})",
       ErrorKind::kForbidden, "m"},
      {"a proxy's page", 502, "<html><body>Bad Gateway</body></html>", ErrorKind::kUnavailable,
       "the server answered 502 (bad gateway)"},
      {"a plain text", 429, "Too many requests, please try again later.\n", ErrorKind::kThrottled,
       "please try again later."},
      {"nothing at all", 503, "", ErrorKind::kUnavailable, "503 (service unavailable)"},
      {"a 422 of somebody else", 422, "{}", ErrorKind::kInvalid, "422"},
      {"another object", 500, R"({"kind":"Pod"})", ErrorKind::kServer, "500"},
      {"wrong types inside", 500, R"({"kind":"Status","message":7,"details":[],"code":"x"})",
       ErrorKind::kServer, "answered 500"},
      {"a bad request", 400, R"({"kind":"Status","reason":"BadRequest","message":"m","code":400})",
       ErrorKind::kBadRequest, "m"},
  };
  for (const StatusCase& c : cases) {
    Error error = decode_status(c.code, c.body);
    EXPECT_EQ(to_string(error.kind), std::string(to_string(c.kind))) << c.what;
    EXPECT_NE(error.message.find(c.says), std::string::npos) << c.what << ": " << error.message;
    EXPECT_EQ(error.http_code, c.code);
  }
  Error budget = decode_status(429, cases[6].body);
  ASSERT_EQ(budget.causes.size(), 1u);
  EXPECT_EQ(budget.causes[0].reason, "DisruptionBudget");
  EXPECT_EQ(budget.retry_after, std::chrono::seconds(10));
  EXPECT_EQ(decode_status(504, cases[8].body).causes[0].reason, "ResourceVersionTooLarge");
}

}  // namespace
}  // namespace berth
