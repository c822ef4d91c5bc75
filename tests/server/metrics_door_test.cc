// SPDX-License-Identifier: Apache-2.0
// Only callers whose token may get the path /metrics read the metrics.
#include "controller/server/metrics_door.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/runtime/world.h"

namespace berth {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using testing::HasSubstr;

constexpr char kTokenReviewPath[] = "/apis/authentication.k8s.io/v1/tokenreviews";

// An API server that knows the tokens "prometheus" and "tenant", each its owner's name.
class MetricsDoorTest : public ::testing::Test {
 protected:
  MetricsDoorTest() {
    world_.transport.respond_with([this](const HttpRequest& request) { return answer(request); });
  }
  void TearDown() override {
    bool ended = false;
    door_.stop([&] { ended = true; });
    world_.settle();
    EXPECT_TRUE(ended);
  }
  std::optional<FakeReply> answer(const HttpRequest& request) {
    if (down_) return FakeReply{.status = 500, .body = status_json(500, "InternalError")};
    const json spec = json::parse(request.body)["spec"];
    if (request.target.starts_with(kTokenReviewPath)) {
      const bool known = spec["token"] == "prometheus" || spec["token"] == "tenant";
      json status = {{"authenticated", known}};
      if (known) status["user"] = {{"username", spec["token"]}};
      const json body = {{"kind", "TokenReview"}, {"status", status}};
      return FakeReply{.status = 201, .body = body.dump()};
    }
    asked_ = spec["nonResourceAttributes"];
    const json body = {{"kind", "SubjectAccessReview"},
                       {"status", {{"allowed", spec["user"] == "prometheus"}}}};
    return FakeReply{.status = 201, .body = body.dump()};
  }
  HttpResponse knock(const std::string& authorization) {
    return door_.refuse({.method = "GET", .path = kMetricsPath, .authorization = authorization})
        .value_or(HttpResponse{.status = 200});
  }
  // Once it is known.
  int ask(const std::string& authorization) {
    knock(authorization);
    world_.settle();
    return knock(authorization).status;
  }

  World world_;
  bool down_ = false;
  json asked_;
  int settled_ = 0;
  MetricsDoor door_{world_.client, world_.log, [this] { ++settled_; }};
};

TEST_F(MetricsDoorTest, WhoMayGetThePathGetsTheMetrics) {
  EXPECT_EQ(ask("Bearer prometheus"), 200);
  EXPECT_EQ(asked_, json::parse(R"({"path": "/metrics", "verb": "get"})"));
}

TEST_F(MetricsDoorTest, EverybodyElseIsToldWhy) {
  EXPECT_EQ(ask(""), 401);
  EXPECT_THAT(knock("").head, HasSubstr("www-authenticate: Bearer"));
  EXPECT_EQ(ask("Basic prometheus"), 401);
  EXPECT_EQ(world_.sent().size(), 0u) << "of what is no token nobody is asked";
  EXPECT_EQ(ask("Bearer made-up"), 401);
  EXPECT_EQ(ask("Bearer tenant"), 403);
  EXPECT_THAT(knock("Bearer tenant").body, HasSubstr("nonResourceURLs"));
}

TEST_F(MetricsDoorTest, TheFirstScrapeWaitsForTheAPIServersAnswer) {
  const HttpResponse first = knock("Bearer prometheus");
  EXPECT_TRUE(first.again);
  EXPECT_EQ(first.status, 503);
  world_.settle();
  EXPECT_EQ(settled_, 1) << "and is asked again at once";
  EXPECT_EQ(knock("Bearer prometheus").status, 200);
}

TEST_F(MetricsDoorTest, ThousandScrapesAreTwoQuestions) {
  for (int i = 0; i < 1000; ++i) ask("Bearer prometheus");
  EXPECT_EQ(world_.sent().size(), 2u);
}

TEST_F(MetricsDoorTest, WithoutTheAPIServerNobodyNewIsLetIn) {
  down_ = true;
  EXPECT_EQ(ask("Bearer prometheus"), 503);
  EXPECT_FALSE(knock("Bearer prometheus").again);
}

}  // namespace
}  // namespace berth
