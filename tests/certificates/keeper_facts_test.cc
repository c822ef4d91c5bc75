// SPDX-License-Identifier: Apache-2.0
// The facts that the certificate manager process reports to metrics and readiness.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "controller/certificates/certificate_keeper.h"
#include "tests/runtime/world.h"

namespace berth {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using testing::Optional;

// An API server that stores what it receives.
class KeeperFactsTest : public ::testing::Test {
 protected:
  KeeperFactsTest() {
    world_.transport.respond_with([this](const HttpRequest& request) { return answer(request); });
    spawn(world_.loop, keeper_.run(stop_.get_token()));
    world_.settle();
  }
  ~KeeperFactsTest() override {
    stop_.request_stop();
    world_.settle();
  }
  std::optional<FakeReply> answer(const HttpRequest& request) {
    if (down_) return FakeReply{.status = 500, .body = status_json(500, "InternalError")};
    const std::string path = request.target.substr(0, request.target.find('?'));
    if (request.method == "GET") {
      if (!kept_.contains(path))
        return FakeReply{.status = 404, .body = status_json(404, "NotFound")};
      return FakeReply{.status = 200, .body = kept_[path].dump()};
    }
    json sent = json::parse(request.body);
    sent["metadata"]["resourceVersion"] = std::to_string(++version_);
    const std::string name = sent["metadata"]["name"];
    kept_[request.method == "POST" ? path + "/" + name : path] = sent;
    return FakeReply{.status = 201, .body = sent.dump()};
  }

  World world_;
  std::stop_source stop_;
  std::map<std::string, json> kept_;
  int version_ = 0;
  bool down_ = true;
  CertificateKeeper keeper_{world_.client, world_.log, {.namespace_ = "berth-system"}};
};

TEST_F(KeeperFactsTest, TellWhenACheckLastSucceededHowManyFailedAndWhenTheCertificatesEnd) {
  world_.loop.run_for(20s);
  EXPECT_GE(keeper_.facts().failures_total, 3);
  EXPECT_EQ(keeper_.facts().last_success, std::nullopt);
  EXPECT_NE(keeper_.problem(), std::nullopt);

  down_ = false;
  world_.loop.run_for(2min);
  const Time now = world_.loop.wall_now();
  ASSERT_TRUE(keeper_.facts().last_success);
  EXPECT_GE(*keeper_.facts().last_success, now - 1min);
  ASSERT_TRUE(keeper_.facts().leaf_end && keeper_.facts().authority_end);
  EXPECT_NEAR(unix_seconds(*keeper_.facts().leaf_end), unix_seconds(now + kLeafLife), 300);
  EXPECT_NEAR(unix_seconds(*keeper_.facts().authority_end), unix_seconds(now + kAuthorityLife),
              300);
  EXPECT_EQ(keeper_.problem(), std::nullopt);

  down_ = true;
  const double before = keeper_.facts().failures_total;
  world_.loop.run_for(2min);
  EXPECT_GT(keeper_.facts().failures_total, before);
  EXPECT_LE(*keeper_.facts().last_success, now + 10s) << "what failed is no success";
}

}  // namespace
}  // namespace berth
