// SPDX-License-Identifier: Apache-2.0
// The token bucket, and the client that takes from it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "apis/kinds/core.h"
#include "controller/client/api_client.h"
#include "controller/client/token_bucket.h"
#include "tests/client/fake_transport.h"
#include "tests/io/fake_loop.h"
#include "tests/io/recording_log.h"

namespace berth {
namespace {

using namespace std::chrono_literals;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(TokenBucket, GivesABurstAtOnceThenOneForEachInterval) {
  TokenBucket bucket(10, 3);
  for (const auto expected : {0ms, 0ms, 0ms, 100ms, 200ms}) EXPECT_EQ(bucket.take(5s), expected);
  EXPECT_EQ(bucket.take(5s + 250ms), 50ms);
}

TEST(TokenBucket, FillsUpToTheBurstAndNoFurther) {
  TokenBucket bucket(10, 3);
  for (int i = 0; i < 3; ++i) bucket.take(0s);
  EXPECT_EQ(bucket.take(200ms), 0ms);
  EXPECT_EQ(bucket.take(200ms), 0ms);
  EXPECT_EQ(bucket.take(200ms), 100ms);
  for (const auto expected : {0ms, 0ms, 0ms, 100ms}) EXPECT_EQ(bucket.take(1h), expected);
}

TEST(TokenBucket, ATokenThatWouldComeTooLateIsNotTaken) {
  TokenBucket bucket(10, 1);
  EXPECT_EQ(bucket.take_within(0ms, 0s), 0ms);
  EXPECT_EQ(bucket.take_within(99ms, 0s), std::nullopt);
  EXPECT_EQ(bucket.take_within(100ms, 0s), 100ms);
}

class RateLimitTest : public ::testing::Test {
 protected:
  RateLimitTest() {
    client_.limit(Traffic::kActing, TokenBucket(10, 2));
    client_.limit(Traffic::kReporting, TokenBucket(5, 1));
    transport_.respond_with([this](const HttpRequest& request) -> std::optional<FakeReply> {
      sent_.push_back(request.target.substr(0, request.target.find('?')) + " at " +
                      std::to_string(loop_.now() / 1ms));
      return FakeReply{200, "{}"};
    });
  }
  void send(std::string target, CallOptions options = CallOptions()) {
    auto task = [](RateLimitTest& test, std::string path, CallOptions how) -> Task<void> {
      ApiRequest request = get_request(path);
      Result<Reply> reply = co_await test.client_.send(std::move(request), std::move(how));
      if (!reply.has_value()) test.failed_.push_back(path + ": " + describe(reply.error()));
    };
    spawn(loop_, task(*this, std::move(target), std::move(options)));
  }

  static CallOptions reporting() {
    CallOptions options;
    options.traffic = Traffic::kReporting;
    return options;
  }

  FakeLoop loop_;
  FakeTransport transport_{loop_};
  RecordingLog log_;
  ApiClient client_{loop_, transport_, log_, {"0", "t"}};
  std::vector<std::string> sent_;
  std::vector<std::string> failed_;
};

TEST_F(RateLimitTest, RequestsBeyondTheBurstGoInOrderAtTheRate) {
  for (const char* path : {"/1", "/2", "/3", "/4"}) send(path);
  loop_.run_for(1s);
  EXPECT_THAT(sent_, ElementsAre("/1 at 0", "/2 at 0", "/3 at 100", "/4 at 200"));
}

TEST_F(RateLimitTest, NoCrowdOfReportsStandsBeforeAWriteThatActs) {
  for (const char* path : {"/status1", "/status2", "/status3"}) send(path, reporting());
  for (const char* path : {"/1", "/2", "/3"}) send(path);
  loop_.run_for(1s);
  EXPECT_THAT(sent_, ElementsAre("/status1 at 0", "/1 at 0", "/2 at 0", "/3 at 100",
                                 "/status2 at 200", "/status3 at 400"));
}

TEST_F(RateLimitTest, WhatIsNotSentNamesTheFlagThatLimitsIt) {
  struct Case {
    Traffic traffic;
    const char* flag;
  };
  for (const Case& c : {Case{Traffic::kActing, "(--kube-api-qps)"},
                        Case{Traffic::kReporting, "(--kube-api-status-qps)"}}) {
    failed_.clear();
    CallOptions hurried(Lane::kWrite, {}, 50ms);
    hurried.traffic = c.traffic;
    for (int i = 0; i < 3; ++i) send("/crowd", hurried);
    loop_.run_for(0s);
    EXPECT_THAT(failed_, Contains(HasSubstr(c.flag)));
    EXPECT_THAT(failed_, Not(Contains(Not(HasSubstr(c.flag)))));
  }
}

TEST_F(RateLimitTest, LeasesAndWatchesDoNotWait) {
  class Deaf : public WatchHandler {
    void on_event(std::string&, Encoding) override {}
    void on_end(WatchEnd) override {}
  };
  for (const char* path : {"/1", "/2", "/3"}) send(path);
  CallOptions lease(Lane::kLease, {});
  send("/lease", lease);
  loop_.run_for(0s);
  client_.start_watch<Pod>(WatchOptions{}, std::make_shared<Deaf>(), {});
  loop_.run_for(1s);
  EXPECT_THAT(sent_,
              ElementsAre("/1 at 0", "/2 at 0", "/lease at 0", "/api/v1/pods at 0", "/3 at 100"));
}

TEST_F(RateLimitTest, TheWaitIsPartOfTheDeadline) {
  for (const char* path : {"/1", "/2", "/3"}) send(path);
  CallOptions patient(Lane::kWrite, {}, 1s);
  send("/patient", patient);
  CallOptions hurried(Lane::kWrite, {}, 150ms);
  send("/hurried", hurried);
  loop_.run_for(1s);
  EXPECT_THAT(sent_, ElementsAre("/1 at 0", "/2 at 0", "/3 at 100", "/patient at 200"));
  EXPECT_EQ(transport_.exchanges.back()->request.deadline, 800ms);
  EXPECT_THAT(failed_, ElementsAre(HasSubstr("--kube-api-qps")));
  EXPECT_THAT(failed_, ElementsAre(HasSubstr("/hurried")));
}

TEST_F(RateLimitTest, AStopEndsTheWaitAndNothingIsSent) {
  std::stop_source stop;
  for (const char* path : {"/1", "/2"}) send(path);
  send("/stopped", CallOptions(stop.get_token()));
  loop_.run_for(50ms);
  stop.request_stop();
  loop_.run_for(1s);
  EXPECT_THAT(sent_, ElementsAre("/1 at 0", "/2 at 0"));
  EXPECT_THAT(failed_, ElementsAre(HasSubstr("cancelled")));
}

TEST_F(RateLimitTest, ALongWaitIsTold) {
  for (int i = 0; i < 12; ++i) send("/" + std::to_string(i));
  loop_.run_for(2s);
  EXPECT_EQ(sent_.size(), 12u);
  EXPECT_THAT(log_.lines,
              ElementsAre("info waited for berth's own rate limit request=GET /11 waited=1s"));
}

}  // namespace
}  // namespace berth
