// SPDX-License-Identifier: Apache-2.0
// An object that this berth can't read, by a CustomResourceDefinition of another version, among
// those that it can.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "controller/runtime/informer.h"
#include "tests/runtime/world.h"

namespace berth {
namespace {

using namespace std::chrono_literals;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kBudgets[] = "GET /apis/policy/v1/poddisruptionbudgets";

std::string budget(const std::string& name, const std::string& version,
                   const std::string& allowed) {
  return R"({"metadata":{"name":")" + name + R"(","namespace":"ns","uid":"uid-)" + name +
         R"(","resourceVersion":")" + version + R"("},"status":{"disruptionsAllowed":)" + allowed +
         "}}";
}
std::string added(const std::string& object) {
  return R"({"type":"ADDED","object":)" + object + "}\n";
}
std::string listed(const std::string& version) {
  return R"({"type":"BOOKMARK","object":{"metadata":{"resourceVersion":")" + version +
         R"(","annotations":{"k8s.io/initial-events-end":"true"}}}})"
         "\n";
}

class UnreadInformerTest : public ::testing::Test {
 protected:
  UnreadInformerTest() {
    informer_.start();
    world_.settle();
  }
  ~UnreadInformerTest() override {
    informer_.stop();
    world_.settle();
  }

  void streams(const std::string& bytes) {
    auto exchange = world_.transport.open(kBudgets);
    ASSERT_NE(exchange, nullptr);
    exchange->head(200);
    exchange->bytes(bytes);
    world_.settle();
  }
  // The server has no WatchList, and its list is this.
  void lists(const std::string& items) {
    auto exchange = world_.transport.open(kBudgets);
    ASSERT_NE(exchange, nullptr);
    world_.transport.script(
        kBudgets, {200, R"({"metadata":{"resourceVersion":"50"},"items":[)" + items + "]}"});
    exchange->head(422);
    exchange->bytes(R"({"kind":"Status","status":"Failure","code":422,"reason":"Invalid"})");
    exchange->end();
    world_.settle();
  }
  void history_is_lost() {
    world_.transport.open(kBudgets)->bytes(
        R"({"type":"ERROR","object":{"kind":"Status","status":"Failure","code":410,"reason":"Expired"}})"
        "\n");
    world_.settle();
  }
  std::vector<std::string> cached() {
    std::vector<std::string> names;
    for (const auto& each : cluster_.store<PodDisruptionBudget>())
      names.push_back(each->meta.name + "@" + each->meta.resource_version);
    return names;
  }

  World world_;
  ClusterState cluster_;
  Informer<PodDisruptionBudget> informer_{
      world_.client, cluster_, world_.log, world_.metrics, "poddisruptionbudgets", {}, false, {},
      nullptr,       7};
};

TEST_F(UnreadInformerTest, AListIsTakenInWithoutIt) {
  lists(budget("a", "1", "1") + "," + budget("b", "2", R"("x")") + "," + budget("c", "3", "1"));
  EXPECT_TRUE(informer_.synced());
  EXPECT_THAT(cached(), ElementsAre("a@1", "c@3"));
  EXPECT_THAT(world_.log.lines,
              Contains(HasSubstr("object=ns/b error=items[1].status.disruptionsAllowed: must be")));
}

TEST_F(UnreadInformerTest, ARefreshByListLeavesItAsItWasKnown) {
  streams(added(budget("a", "1", "1")) + added(budget("b", "2", "1")) +
          added(budget("gone", "3", "1")) + listed("10"));
  history_is_lost();
  lists(budget("a", "11", "1") + "," + budget("b", "12", R"("x")"));
  EXPECT_THAT(cached(), ElementsAre("a@11", "b@2"));
}

TEST_F(UnreadInformerTest, ARefreshByStreamLeavesItAsItWasKnown) {
  streams(added(budget("a", "1", "1")) + added(budget("b", "2", "1")) +
          added(budget("gone", "3", "1")) + listed("10"));
  history_is_lost();
  streams(added(budget("a", "11", "1")) + added(budget("b", "12", R"("x")")) + listed("20"));
  EXPECT_THAT(cached(), ElementsAre("a@11", "b@2"));
}

}  // namespace
}  // namespace berth
