// SPDX-License-Identifier: Apache-2.0
#include "controller/runtime/required_apis.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "apis/kinds/mig_layout.h"
#include "tests/runtime/world.h"

namespace berth {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

constexpr char kGroup[] = "GET /apis/gpu.berth.dev/v1alpha1";
constexpr char kServed[] =
    R"({"kind":"APIResourceList","groupVersion":"gpu.berth.dev/v1alpha1","resources":[)"
    R"({"name":"miglayouts","verbs":["list","watch"]}]})";

class RequiredApisTest : public ::testing::Test {
 protected:
  void start() {
    auto task = [](RequiredApisTest& test) -> Task<void> {
      const std::vector<ResourceNeed> needs = {
          {.kind = kKind<MIGLayout>, .verbs = {"list", "watch"}}};
      test.served_ = co_await wait_for_apis(test.world_.client, test.world_.log, needs, 2min,
                                            test.stop_.get_token());
    };
    spawn(world_.loop, task(*this));
    world_.settle();
  }
  World world_;
  std::stop_source stop_;
  std::optional<bool> served_;
};

TEST_F(RequiredApisTest, WhatIsServedIsNoNews) {
  world_.transport.script(kGroup, {200, kServed});
  start();
  EXPECT_EQ(served_, true);
  EXPECT_THAT(world_.log.lines, IsEmpty());
}

TEST_F(RequiredApisTest, AMissingCRDIsToldOnceWithItsRemedyAndWaitedFor) {
  for (int i = 0; i < 3; ++i) world_.transport.script(kGroup, {404, "404 page not found"});
  world_.transport.script(kGroup, {200, kServed});
  start();
  world_.loop.run_for(14s);
  EXPECT_EQ(served_, std::nullopt);
  EXPECT_THAT(world_.log.lines, ElementsAre(AllOf(StartsWith("error "), HasSubstr("miglayouts"),
                                                  HasSubstr("kubectl apply -f crds/"))));
  world_.loop.run_for(2s);
  EXPECT_EQ(served_, true);
}

TEST_F(RequiredApisTest, AfterTheLimitItSaysWhyItEnds) {
  world_.transport.respond_with([](const HttpRequest&) { return FakeReply{404, "no"}; });
  start();
  world_.loop.run_for(121s);
  EXPECT_EQ(served_, false);
  ASSERT_EQ(world_.log.lines.size(), 2u);
  EXPECT_THAT(world_.log.lines[1],
              AllOf(StartsWith("error ending why="), HasSubstr("kubectl apply -f crds/")));
}

TEST_F(RequiredApisTest, AStopEndsTheWait) {
  world_.transport.respond_with([](const HttpRequest&) { return FakeReply{404, "no"}; });
  start();
  stop_.request_stop();
  world_.settle();
  EXPECT_EQ(served_, false);
  EXPECT_EQ(world_.log.lines.size(), 1u);
}

TEST_F(RequiredApisTest, AServerThatDoesNotTellIsToldOfAndTrusted) {
  world_.transport.script(kGroup, {403, status_json(403, "Forbidden")});
  start();
  EXPECT_EQ(served_, true);
  EXPECT_THAT(world_.log.lines, ElementsAre(StartsWith("warn cannot ask")));
}

TEST(RequiredApis, ADryRunNeedsNothingToWrite) {
  for (const ResourceNeed& need : required_apis(false, true)) {
    EXPECT_THAT(need.subresource, IsEmpty());
    for (const std::string_view verb : need.verbs)
      EXPECT_TRUE(verb == "get" || verb == "list" || verb == "watch") << describe(need) << verb;
  }
  EXPECT_GT(required_apis(true, false).size(), required_apis(false, false).size());
  EXPECT_GT(required_apis(true, true).size(), required_apis(true, false).size());
}

}  // namespace
}  // namespace berth
