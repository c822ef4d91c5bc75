// SPDX-License-Identifier: Apache-2.0
#include "controller/runtime/leader_election.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "tests/runtime/world.h"

namespace berth {
namespace {

using namespace std::chrono_literals;
using ::testing::Contains;
using ::testing::HasSubstr;

constexpr char kGet[] = "GET /apis/coordination.k8s.io/v1/namespaces/berth/leases/lead";
constexpr char kPatch[] = "PATCH /apis/coordination.k8s.io/v1/namespaces/berth/leases/lead";
constexpr char kPost[] = "POST /apis/coordination.k8s.io/v1/namespaces/berth/leases";

std::string lease_json(const std::string& holder, const std::string& version,
                       const std::string& renewed = "2026-11-21T00:00:00.000000Z") {
  return R"({"kind":"Lease","apiVersion":"coordination.k8s.io/v1","metadata":{"name":"lead","namespace":"berth","resourceVersion":")" +
         version + R"("},"spec":{"holderIdentity":")" + holder +
         R"(","leaseDurationSeconds":15,"leaseTransitions":3,"renewTime":")" + renewed + R"("}})";
}

class LeaderElectionTest : public ::testing::Test {
 protected:
  ~LeaderElectionTest() override {
    stop_.request_stop();
    world_.loop.run_for(20s);
  }
  void start() {
    auto life = [](LeaderElectionTest& test, std::stop_token stop) -> Task<void> {
      test.acquired_ = co_await test.elector_.acquire(stop);
      if (!*test.acquired_) co_return;
      test.held_to_the_end_ = co_await test.elector_.hold(stop);
      test.lost_at_ = test.world_.loop.now();
      if (*test.held_to_the_end_) co_await test.elector_.release();
    };
    spawn(world_.loop, life(*this, stop_.get_token()));
    world_.settle();
  }
  bool leads() const { return elector_.time_left().count() > 0; }

  World world_;
  std::stop_source stop_;
  LeaderElector elector_{
      world_.client, world_.log,
      LeaseOptions{.namespace_ = "berth", .name = "lead", .identity = "me", .version = "1.2.3"}, 3};
  std::optional<bool> acquired_;
  std::optional<bool> held_to_the_end_;
  MonotonicTime lost_at_{0};
};

TEST_F(LeaderElectionTest, AnAbsentLeaseIsCreatedAndRenewedWithoutALook) {
  world_.transport.script(kGet, {404, status_json(404, "NotFound")});
  world_.transport.script(kPost, {201, lease_json("me", "1")});
  start();
  EXPECT_TRUE(leads());
  EXPECT_EQ(world_.transport.exchanges.at(1)->request.lane, Lane::kLease);
  const auto has_version = HasSubstr(R"("annotations":{"gpu.berth.dev/version":"1.2.3"})");
  EXPECT_THAT(world_.transport.exchanges.at(1)->request.body, has_version);
  world_.transport.script(kPatch, {200, lease_json("me", "2", "2026-11-21T00:00:02Z")});
  world_.transport.script(kPatch, {200, lease_json("me", "3", "2026-11-21T00:00:04Z")});
  world_.loop.run_for(4100ms);
  EXPECT_EQ(world_.count(kPatch), 2u);
  EXPECT_EQ(world_.count(kGet), 1u);
  EXPECT_THAT(world_.transport.exchanges.back()->request.body,
              HasSubstr(R"("resourceVersion":"2")"));
  EXPECT_THAT(world_.transport.exchanges.back()->request.body, has_version);
  EXPECT_GT(elector_.time_left(), 9s);
}

TEST_F(LeaderElectionTest, AnothersLeaseIsTakenOnlyOnceItHasNotChangedForItsDuration) {
  for (int i = 0; i < 20; ++i) world_.transport.script(kGet, {200, lease_json("other", "7")});
  world_.transport.script(kPatch, {200, lease_json("me", "8")});
  start();
  world_.loop.run_for(14s);
  EXPECT_FALSE(leads());
  EXPECT_EQ(world_.count(kPatch), 0u);
  world_.loop.run_for(4s);
  EXPECT_TRUE(leads());
  const auto patch = world_.transport.exchanges.back();
  EXPECT_THAT(patch->request.body, HasSubstr(R"("resourceVersion":"7")"));
  EXPECT_THAT(patch->request.body, HasSubstr(R"("leaseTransitions":4)"));
}

TEST_F(LeaderElectionTest, ALeaseThatKeepsChangingIsLeftAloneWhateverItsStampsSay) {
  for (int i = 0; i < 60; ++i)  // stamps of years ago, but new ones each time
    world_.transport.script(
        kGet, {200, lease_json("other", std::to_string(10 + i),
                               "2020-01-01T00:00:" + std::to_string(10 + i % 50) + "Z")});
  start();
  world_.loop.run_for(60s);
  EXPECT_EQ(world_.count(kPatch), 0u);
}

TEST_F(LeaderElectionTest, AReleasedLeaseIsTakenAtOnce) {
  world_.transport.script(kGet, {200, lease_json("", "7")});
  world_.transport.script(kPatch, {200, lease_json("me", "8")});
  start();
  EXPECT_TRUE(leads());
}

TEST_F(LeaderElectionTest, ALeaderThatCannotRenewStopsAtItsDeadlineAndNotLater) {
  world_.transport.script(kGet, {404, status_json(404, "NotFound")});
  world_.transport.script(kPost, {201, lease_json("me", "1")});
  start();
  world_.transport.respond_with([](const HttpRequest&) {
    return FakeReply{.status = 503, .body = status_json(503, "ServiceUnavailable")};
  });
  world_.loop.run_for(9900ms);
  EXPECT_TRUE(leads());
  world_.loop.run_for(200ms);
  EXPECT_FALSE(leads());
  ASSERT_TRUE(held_to_the_end_.has_value());
  EXPECT_FALSE(*held_to_the_end_);
  EXPECT_LE(lost_at_, 10s + 1ms);
}

TEST_F(LeaderElectionTest, RequestsThatHangAreCutBeforeTheDeadline) {
  world_.transport.script(kGet, {404, status_json(404, "NotFound")});
  world_.transport.script(kPost, {201, lease_json("me", "1")});
  start();  // no more replies: every renewal hangs
  world_.loop.run_for(10100ms);
  ASSERT_TRUE(held_to_the_end_.has_value());
  EXPECT_FALSE(*held_to_the_end_);
  EXPECT_GE(world_.count(kPatch), 2u);
}

TEST_F(LeaderElectionTest, ALeaderThatSeesAnotherInItsLeaseStopsAtOnce) {
  world_.transport.script(kGet, {404, status_json(404, "NotFound")});
  world_.transport.script(kPost, {201, lease_json("me", "1")});
  start();
  world_.transport.script(kPatch, {409, status_json(409, "Conflict")});
  world_.transport.script(kGet, {200, lease_json("other", "9")});
  world_.loop.run_for(2100ms);
  EXPECT_FALSE(leads());
  ASSERT_TRUE(held_to_the_end_.has_value());
  EXPECT_FALSE(*held_to_the_end_);
}

TEST_F(LeaderElectionTest, AStaleVersionOfOurOwnLeaseIsLookedUpAndRenewed) {
  world_.transport.script(kGet, {404, status_json(404, "NotFound")});
  world_.transport.script(kPost, {201, lease_json("me", "1")});
  start();
  world_.transport.script(kPatch, {409, status_json(409, "Conflict")});
  world_.transport.script(kGet, {200, lease_json("me", "5")});
  world_.transport.script(kPatch, {200, lease_json("me", "6")});
  world_.loop.run_for(2100ms);
  EXPECT_TRUE(leads());
  EXPECT_GT(elector_.time_left(), 9s);
}

TEST_F(LeaderElectionTest, AStoppedLeaderGivesTheLeaseUp) {
  world_.transport.script(kGet, {404, status_json(404, "NotFound")});
  world_.transport.script(kPost, {201, lease_json("me", "1")});
  start();
  world_.transport.script(kPatch, {200, lease_json("", "2")});
  stop_.request_stop();
  world_.settle();
  EXPECT_TRUE(held_to_the_end_.value_or(false));
  EXPECT_FALSE(leads());
  const std::string body = world_.transport.exchanges.back()->request.body;
  EXPECT_THAT(body, HasSubstr(R"("holderIdentity":"")"));
  EXPECT_THAT(body, HasSubstr(R"("resourceVersion":"1")"));
}

// The renewal reaches the server, its reply does not reach us: the version we know is old.
TEST_F(LeaderElectionTest, ARenewalUnderWayDoesNotKeepAStoppedLeaderFromGivingTheLeaseUp) {
  world_.transport.script(kGet, {404, status_json(404, "NotFound")});
  world_.transport.script(kPost, {201, lease_json("me", "1")});
  start();
  world_.loop.run_for(2s);
  ASSERT_NE(world_.transport.open(kPatch), nullptr);
  world_.transport.script(kPatch, {409, status_json(409, "Conflict")});
  world_.transport.script(kGet, {200, lease_json("me", "2")});
  world_.transport.script(kPatch, {200, lease_json("", "3")});
  stop_.request_stop();
  world_.settle();
  EXPECT_EQ(world_.count(kPatch), 3u);
  const std::string body = world_.transport.exchanges.back()->request.body;
  EXPECT_THAT(body, HasSubstr(R"("holderIdentity":"")"));
  EXPECT_THAT(body, HasSubstr(R"("resourceVersion":"2")"));
  EXPECT_THAT(world_.log.lines, Contains("info lease released"));
}

TEST_F(LeaderElectionTest, AStoppedLeaderLeavesALeaseThatIsAnothersAlone) {
  world_.transport.script(kGet, {404, status_json(404, "NotFound")});
  world_.transport.script(kPost, {201, lease_json("me", "1")});
  start();
  world_.transport.script(kPatch, {409, status_json(409, "Conflict")});
  world_.transport.script(kGet, {200, lease_json("other", "2")});
  stop_.request_stop();
  world_.settle();
  EXPECT_EQ(world_.count(kPatch), 1u);
}

TEST(LeaseOptions, TimesThatCannotWorkAreRefusedByName) {
  const auto refusal = [](std::chrono::milliseconds lease, std::chrono::milliseconds renew,
                          std::chrono::milliseconds retry) {
    LeaseOptions options;
    options.lease_duration = lease;
    options.renew_deadline = renew;
    options.retry_period = retry;
    const Result<void> result = validate(options);
    return result.has_value() ? std::string("ok") : result.error().where;
  };
  EXPECT_EQ(refusal(15s, 10s, 2s), "ok");
  EXPECT_EQ(refusal(2s, 1s, 500ms), "ok");
  EXPECT_EQ(refusal(10s, 10s, 2s), "--leader-elect-renew-deadline");
  EXPECT_EQ(refusal(15s, 2s, 2s), "--leader-elect-renew-deadline");
  EXPECT_EQ(refusal(15s, 10s, 0s), "--leader-elect-retry-period");
  EXPECT_EQ(refusal(1500ms, 1s, 100ms), "--leader-elect-lease-duration");
}

}  // namespace
}  // namespace berth
