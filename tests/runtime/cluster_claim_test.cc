// SPDX-License-Identifier: Apache-2.0
// Which of two installations has the cluster, and what the other one says.
#include "controller/runtime/cluster_claim.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <list>
#include <nlohmann/json.hpp>
#include <optional>

#include "tests/runtime/world.h"

namespace berth {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::Optional;

// An API server that holds the one Lease.
class ClusterClaimTest : public ::testing::Test {
 protected:
  ClusterClaimTest() {
    world_.transport.respond_with([this](const HttpRequest& request) { return answer(request); });
  }
  ~ClusterClaimTest() override {
    stop_.request_stop();
    world_.loop.run_for(2min);
  }
  std::optional<FakeReply> answer(const HttpRequest& request) {
    if (forbidden_) return FakeReply{.status = 403, .body = status_json(403, "Forbidden")};
    if (request.method == "GET") {
      if (lease_.is_null()) return FakeReply{.status = 404, .body = status_json(404, "NotFound")};
      return FakeReply{.status = 200, .body = lease_.dump()};
    }
    const json sent = json::parse(request.body);
    const json version = sent["metadata"].value("resourceVersion", json());
    if (lease_.is_null() != version.is_null() ||
        (!lease_.is_null() && lease_["metadata"]["resourceVersion"] != version))
      return FakeReply{.status = 409, .body = status_json(409, "Conflict")};
    lease_ = sent;
    lease_["metadata"]["resourceVersion"] = std::to_string(++version_);
    return FakeReply{.status = 200, .body = lease_.dump()};
  }
  // A process of the installation in this namespace, until it is stopped.
  struct Installation {
    Installation(World& world, const std::string& ns)
        : claim(world.client, world.log, options(ns)) {}
    static ControllerOptions options(const std::string& ns) {
      ControllerOptions options;
      options.settings.berth_namespace = ns;
      options.claim_namespace = "kube-system";
      return options;
    }
    Task<void> live(std::stop_token stop) {
      has = co_await claim.acquire(stop);
      if (has) kept = co_await claim.hold(stop);
      has = false;
    }
    ClusterClaim claim;
    bool has = false;
    std::optional<bool> kept;
  };
  // It outlives the tasks, which end with the fixture.
  Installation& add(const std::string& ns) { return installations_.emplace_back(world_, ns); }
  void start(Installation& one, std::stop_token stop) {
    spawn(world_.loop, one.live(stop));
    world_.settle();
  }

  World world_;
  std::list<Installation> installations_;
  std::stop_source stop_;
  json lease_;
  int version_ = 0;
  bool forbidden_ = false;
};

TEST_F(ClusterClaimTest, TheFirstHasItAndTheOtherSaysForWhom) {
  Installation &first = add("berth-system"), &second = add("gpu-tools");
  start(first, stop_.get_token());
  start(second, stop_.get_token());
  world_.loop.run_for(1h);
  EXPECT_TRUE(first.has);
  EXPECT_EQ(first.claim.problem(), std::nullopt);
  EXPECT_FALSE(second.has);
  EXPECT_THAT(second.claim.problem(),
              Optional(AllOf(HasSubstr("the berth in namespace berth-system has this cluster"),
                             HasSubstr("Lease kube-system/berth-cluster"))));
  EXPECT_THAT(world_.log.lines, Contains(HasSubstr("another installation has the cluster")));
}

TEST_F(ClusterClaimTest, TheNextLeaderOfTheSameInstallationHasItAtOnce) {
  std::stop_source ends;
  Installation &first = add("berth-system"), &next = add("berth-system");
  start(first, ends.get_token());
  ends.request_stop();
  world_.settle();
  EXPECT_THAT(first.kept, Optional(true));
  start(next, stop_.get_token());
  EXPECT_TRUE(next.has);
}

TEST_F(ClusterClaimTest, AnInstallationThatIsGoneLosesItAfterTenMinutesAndNotBefore) {
  std::stop_source ends;
  Installation &first = add("berth-system"), &second = add("gpu-tools");
  start(first, ends.get_token());
  ends.request_stop();
  world_.settle();
  start(second, stop_.get_token());
  world_.loop.run_for(590s);
  EXPECT_FALSE(second.has);
  world_.loop.run_for(30s);
  EXPECT_TRUE(second.has);
}

TEST_F(ClusterClaimTest, WhoDeletesTheLeaseNeedNotWait) {
  std::stop_source ends;
  Installation &first = add("berth-system"), &second = add("gpu-tools");
  start(first, ends.get_token());
  ends.request_stop();
  world_.settle();
  start(second, stop_.get_token());
  lease_ = json();
  world_.loop.run_for(15s);
  EXPECT_TRUE(second.has);
}

TEST_F(ClusterClaimTest, AnInstallationWhoseClaimWasTakenLearnsOfIt) {
  Installation& first = add("berth-system");
  start(first, stop_.get_token());
  lease_["spec"]["holderIdentity"] = "gpu-tools/berth-controller";
  lease_["metadata"]["resourceVersion"] = std::to_string(++version_);
  world_.loop.run_for(15s);
  EXPECT_THAT(first.kept, Optional(false));
}

TEST_F(ClusterClaimTest, WithoutTheRightItWaitsAndSaysSo) {
  forbidden_ = true;
  Installation& first = add("berth-system");
  start(first, stop_.get_token());
  world_.loop.run_for(1min);
  EXPECT_FALSE(first.has);
  EXPECT_THAT(first.claim.problem(), Optional(HasSubstr("kube-system/berth-cluster is not taken")));
  forbidden_ = false;
  world_.loop.run_for(15s);
  EXPECT_TRUE(first.has);
}

}  // namespace
}  // namespace berth
