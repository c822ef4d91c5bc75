// SPDX-License-Identifier: Apache-2.0
// The shell of `berth webhook`: what its endpoint takes and refuses, and when it calls itself
// ready.
#include "controller/server/webhook.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apis/base/names.h"
#include "controller/certificates/certificate_maker.h"
#include "tests/client/fake_host.h"
#include "tests/io/recording_log.h"
#include "tests/runtime/world.h"

namespace berth {
namespace {

using namespace std::chrono_literals;
using ::testing::Contains;
using ::testing::HasSubstr;

constexpr char kReview[] =
    R"({"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"u1",)"
    R"("kind":{"group":"","version":"v1","kind":"Pod"},"resource":{"group":"","version":"v1",)"
    R"("resource":"pods"},"name":"p","namespace":"team-a","operation":"CREATE","userInfo":{},)"
    R"("object":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{}}}})";

HttpCall post(std::string_view path, std::string_view body,
              std::string_view content_type = "application/json") {
  return {.method = "POST", .path = path, .content_type = content_type, .body = body};
}

TEST(ReviewEndpoint, TakesReviewsByPostAndRefusesEverythingElseWithASentence) {
  ClusterState cluster;
  Settings settings;
  Metrics metrics("test");
  const ReviewEndpoint endpoint({cluster, settings, metrics, [] { return MonotonicTime(0); }});
  const auto status = [&](const HttpCall& call) { return endpoint.answer(call).status; };
  EXPECT_EQ(status(post("/mutate", kReview)), 200);
  EXPECT_EQ(status(post("/validate", kReview, "application/json; charset=utf-8")), 200);
  EXPECT_EQ(status(post("/validate", kReview, "Application/JSON;charset=\"UTF-8\"")), 200);
  for (const char* other :
       {"application/jsonp", "application/json; charset=utf-16", "application/json;charset=latin1",
        "application/json; x=y; CHARSET=\"utf-16le\"", "text/plain; a=application/json"})
    EXPECT_EQ(status(post("/validate", kReview, other)), 415) << other;
  EXPECT_EQ(status(post("/validate", kReview, "")), 415);
  EXPECT_EQ(status(post("/", kReview)), 404);
  EXPECT_EQ(status({.method = "GET", .path = "/mutate"}), 405);
  for (const char* malformed : {"", "{", "[]", "{}", R"({"kind":"AdmissionReview"})"})
    EXPECT_EQ(status(post("/mutate", malformed)), 400) << malformed;
  const HttpResponse answered = endpoint.answer(post("/mutate", kReview));
  EXPECT_EQ(answered.content_type, "application/json");
  EXPECT_THAT(answered.body, HasSubstr(R"("uid":"u1")"));
  EXPECT_THAT(
      metrics.text(),
      HasSubstr(
          R"(berth_webhook_requests_total{operation="CREATE",path="mutate",verdict="allowed"} 2)"));
  EXPECT_THAT(metrics.text(), HasSubstr(R"(operation="other",path="mutate",verdict="refused"} 5)"));
}

TEST(ReviewEndpoint, LogsEachRefusalWithUserObjectFieldAndRuleAndNoFloodFillsTheLog) {
  ClusterState cluster;
  GPUClusterPolicy policy;
  policy.meta.name = "cluster";
  cluster.upsert(policy, Time{});
  Namespace team;
  team.meta.name = "team-a";
  team.meta.labels = {{names::kManagedLabel, "true"}};
  cluster.upsert(team, Time{});
  Settings settings;
  Metrics metrics("test");
  RecordingLog log;
  MonotonicTime now{0};
  const ReviewEndpoint endpoint({cluster, settings, metrics, [&] { return now; }, &log});
  std::string bad(kReview);
  const auto put = [&bad](const std::string& what, const std::string& with) {
    bad.replace(bad.find(what), what.size(), with);
  };
  put(R"("userInfo":{})", R"("userInfo":{"username":"anna\n"})");
  put(R"("spec":{})",
      R"("spec":{"containers":[{"name":"c","resources":{"limits":{"nvidia.com/gpu":"0.5"}}}]})");
  endpoint.answer(post("/validate", kReview));
  EXPECT_THAT(log.lines, ::testing::IsEmpty());
  endpoint.answer(post("/validate", bad));
  EXPECT_THAT(
      log.lines,
      ::testing::ElementsAre(::testing::AllOf(
          ::testing::StartsWith("info refused user=anna"), HasSubstr("object=Pod/team-a/p "),
          HasSubstr("field=spec.containers[0].resources.limits[nvidia.com/gpu]"),
          HasSubstr("rule=500m is not a whole number"), HasSubstr("operation=CREATE"))));
  for (int i = 0; i < 1000; ++i) endpoint.answer(post("/validate", bad));
  EXPECT_LE(log.lines.size(), 100u);
  now += 10s;
  endpoint.answer(post("/validate", bad));
  EXPECT_THAT(log.lines.back(), HasSubstr("not_logged=901"));
}

class WebhookTest : public ::testing::Test {
 protected:
  std::optional<std::string> problem(const std::string& name) {
    for (const ReadinessCheck& check : webhook_.readiness())
      if (check.name == name) return check.problem;
    return "no such check";
  }
  void mount(Duration life, Duration begins_in = -1h) {
    const Time now = world_.loop.wall_now();
    const CertificatePair authority = make_authority("ca", {now - 1h, now + 1000h}).value();
    const CertificatePair leaf =
        make_leaf(authority, {"a.svc"}, {now + begins_in, now + life}).value();
    host_.files["/certs/tls.crt"] = leaf.certificate;
    host_.files["/certs/tls.key"] = leaf.key;
  }

  World world_;
  FakeHost host_;
  ServingCertificate certificate_;
  MountedFiles files_ = certificate_files(host_, world_.log, certificate_, "/certs");
  int leaves_taken_ = 0;
  Webhook webhook_{Webhook::World{world_.client, world_.log, world_.metrics, certificate_, files_,
                                  nullptr, [this] { ++leaves_taken_; }},
                   WebhookOptions{}};
};

TEST_F(WebhookTest, FollowsItsCertificateAndAnnouncesItsEnd) {
  std::stop_source stop;
  int code = -1;
  const auto main_task = [&]() -> Task<void> { code = co_await webhook_.run(stop.get_token()); };
  spawn(world_.loop, main_task());
  world_.settle();
  EXPECT_EQ(webhook_.answer(post("/mutate", kReview)).status, 503);
  EXPECT_THAT(problem("informer-nodes").value_or(""), HasSubstr("not synced"));
  EXPECT_EQ(problem("certificate"), "none is loaded yet");

  mount(2h);
  world_.loop.run_for(2s);
  EXPECT_EQ(problem("certificate"), std::nullopt);
  world_.loop.run_for(3h);
  EXPECT_THAT(problem("certificate").value_or(""), HasSubstr("expired at"));
  mount(30h, 1h);
  world_.loop.run_for(10s);
  EXPECT_THAT(problem("certificate").value_or(""), HasSubstr("is valid from"));
  mount(30h);
  world_.loop.run_for(10s);
  EXPECT_EQ(problem("certificate"), std::nullopt);
  EXPECT_EQ(problem("shutdown"), std::nullopt);
  webhook_.refresh_metrics();
  EXPECT_THAT(world_.metrics.text(),
              HasSubstr("berth_webhook_certificate_expiration_timestamp_seconds "));

  stop.request_stop();
  world_.loop.run_for(9s);
  EXPECT_EQ(leaves_taken_, 1);
  EXPECT_EQ(problem("shutdown"), "shutting down");
  EXPECT_EQ(code, -1);
  world_.loop.run_for(2s);
  EXPECT_EQ(code, 0);
  for (const std::string& name : world_.sent()) EXPECT_THAT(name, HasSubstr("GET "));
  EXPECT_THAT(world_.sent(), Contains("GET /api/v1/namespaces"));
}

}  // namespace
}  // namespace berth
