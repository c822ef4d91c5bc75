// SPDX-License-Identifier: Apache-2.0
// Lists, page by page: of a server without WatchList, and of one that answers a page otherwise than
// it was asked.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <string>

#include "tests/runtime/node_informer.h"

namespace berth {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

TEST_F(InformerTest, WithoutWatchListItListsInPagesAndWatchesFromThere) {
  auto exchange = watch();
  world_.transport.script(kNodes, {200, list("50", "more", {node_json("n1", "1")})});
  world_.transport.script(kNodes, {200, list("50", "", {node_json("n2", "2")})});
  exchange->head(422);
  exchange->bytes(status_json(422, "Invalid", "sendInitialEvents is forbidden"));
  exchange->end();
  world_.settle();
  EXPECT_TRUE(informer_.synced());
  EXPECT_THAT(cached(), ElementsAre("n1@1", "n2@2"));
  const auto targets = world_.transport.targets();
  ASSERT_EQ(targets.size(), 4u);
  EXPECT_THAT(targets[1], HasSubstr("limit=500"));
  EXPECT_THAT(targets[1], Not(HasSubstr("resourceVersion")));
  EXPECT_THAT(targets[2], HasSubstr("continue=more"));
  EXPECT_THAT(targets[3], HasSubstr("watch=true"));
  EXPECT_THAT(targets[3], HasSubstr("resourceVersion=50"));

  // Remembered: the next refresh does not try WatchList again.
  world_.transport.script(kNodes, {410, status_json(410, "Expired")});
  open_with(event("ERROR", status_json(410, "Expired")));
  EXPECT_THAT(world_.transport.targets().back(), Not(HasSubstr("sendInitialEvents")));
}

TEST_F(InformerTest, AContinueTokenThatExpiredBeginsTheListAnew) {
  auto exchange = watch();
  world_.transport.script(kNodes, {200, list("50", "more", {node_json("n1", "1")})});
  world_.transport.script(kNodes, {410, status_json(410, "Expired")});
  world_.transport.script(kNodes, {200, list("60", "", {node_json("n2", "2")})});
  exchange->head(400);
  exchange->bytes(status_json(400, "BadRequest"));
  exchange->end();
  world_.settle();
  EXPECT_THAT(cached(), ElementsAre("n2@2"));
  EXPECT_THAT(world_.transport.targets().at(3), HasSubstr("limit=500"));
  EXPECT_THAT(world_.transport.targets().at(3), Not(HasSubstr("continue=")));
}

class ListedInformerTest : public InformerTest {
 protected:
  // From now on lists are all there is, and `page` answers them.
  void lists(std::function<FakeReply(int request, const HttpRequest&)> page) {
    auto exchange = watch();
    world_.transport.respond_with(
        [this, page = std::move(page)](const HttpRequest& request) -> std::optional<FakeReply> {
          if (request.target.find("watch=true") != std::string::npos) return std::nullopt;
          return page(++pages_, request);
        });
    exchange->head(422);
    exchange->bytes(status_json(422, "Invalid"));
    exchange->end();
  }
  bool told(const std::string& what) const {
    return std::ranges::any_of(world_.log.lines,
                               [&](const auto& line) { return line.find(what) != line.npos; });
  }
  int pages_ = 0;
};

TEST_F(ListedInformerTest, ATokenThatComesAgainEndsTheList) {
  lists([](int request, const HttpRequest&) {
    const std::string next = request % 2 == 0 ? "even" : "odd";
    return FakeReply{
        200, list("50", next, {node_json("n1", "1")}), {}, TransportOutcome::kComplete, "", 1ms};
  });
  world_.loop.run_for(10min);
  EXPECT_FALSE(informer_.synced());
  EXPECT_LE(pages_, 3 * 60) << "three pages for each try";
  EXPECT_TRUE(
      told("error=nodes: berth rejects the API server's answer: the same continue token "
           "again after 3 pages"))
      << ::testing::PrintToString(world_.log.lines);
  EXPECT_THAT(world_.metrics.text(), HasSubstr("type=\"out-of-bounds\"} "));
}

TEST_F(ListedInformerTest, EverNewTokensEndTheListToo) {
  lists([](int request, const HttpRequest&) {
    return FakeReply{200, list("50", "t" + std::to_string(request), {}),
                     {},  TransportOutcome::kComplete,
                     "",  1ms};
  });
  world_.loop.run_for(25s);
  EXPECT_GE(pages_, 20'000);
  EXPECT_LE(pages_, 20'001 + 5'000);
  EXPECT_TRUE(told("more than 20000 pages"));
}

// A server that has 600 nodes, one of them of a megabyte and more.
TEST_F(ListedInformerTest, PagesThatAreTooLargeAreAskedForInPieces) {
  std::vector<std::string> limits;
  lists([&](int, const HttpRequest& request) {
    const std::size_t at = request.target.find("limit=");
    const int limit = std::stoi(request.target.substr(at + 6));
    limits.push_back(std::to_string(limit));
    EXPECT_LE(request.max_body_bytes, 8u << 20);
    if (limit > 20) return FakeReply{.outcome = TransportOutcome::kTooLarge, .detail = "too large"};
    return FakeReply{200, list("50", "", {node_json("n1", "1")})};
  });
  world_.settle();
  EXPECT_TRUE(informer_.synced());
  EXPECT_THAT(limits, ElementsAre("500", "100", "20"));
}

}  // namespace
}  // namespace berth
