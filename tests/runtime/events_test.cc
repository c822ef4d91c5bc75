// SPDX-License-Identifier: Apache-2.0
#include "controller/runtime/events.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/runtime/world.h"

namespace berth {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

constexpr char kEvents[] = "POST /apis/events.k8s.io/v1/namespaces/default/events";

class EventsTest : public ::testing::Test {
 protected:
  EventsTest() {
    world_.transport.respond_with([](const HttpRequest&) {
      return FakeReply{201, R"({"metadata":{"name":"e"}})"};
    });
  }
  void note(const std::string& text, const std::string& object = "n1") {
    events_.send(
        {.regarding = {"Node", "", object, "u1"}, .reason = "R", .action = "A", .note = text});
    world_.settle();
  }
  std::size_t posts() const { return world_.count(kEvents); }
  std::size_t patches() const { return world_.transport.exchanges.size() - posts(); }

  World world_;
  Events events_{world_.client, world_.log, Events::Options{.instance = "me"}};
};

TEST_F(EventsTest, EqualNotesBecomeOneEventWithACount) {
  for (int i = 0; i < 5; ++i) note("same");
  EXPECT_EQ(posts(), 1u);
  EXPECT_EQ(patches(), 0u);
  world_.loop.run_for(31s);
  note("same");
  EXPECT_EQ(posts(), 1u);
  ASSERT_EQ(patches(), 1u);
  EXPECT_THAT(world_.transport.exchanges.back()->request.body, HasSubstr(R"("count":6)"));
  world_.loop.run_for(11min);
  note("same");
  EXPECT_EQ(posts(), 2u);
}

TEST_F(EventsTest, DifferentNotesOfOneReasonAreFoldedAfterTen) {
  for (int i = 0; i < 15; ++i) note("note " + std::to_string(i));
  EXPECT_EQ(posts(), 10u);
  note("of another object", "n2");
  EXPECT_EQ(posts(), 11u);
}

TEST_F(EventsTest, AnObjectHasABurstAndThenOnePerFiveMinutes) {
  for (int i = 0; i < 60; ++i)
    events_.send(
        {.regarding = {"Node", "", "n1", "u1"}, .reason = "R" + std::to_string(i), .action = "A"});
  world_.settle();
  EXPECT_EQ(posts(), 25u);
  world_.loop.run_for(5min);
  note("later");
  note("and later");
  EXPECT_EQ(posts(), 26u);
}

TEST_F(EventsTest, AnEventTheServerForgotStartsANewOne) {
  note("same");
  world_.transport.respond_with([](const HttpRequest& request) {
    return request.method == "PATCH" ? FakeReply{404, status_json(404, "NotFound")}
                                     : FakeReply{201, "{}"};
  });
  world_.loop.run_for(31s);
  note("same");
  note("same");
  EXPECT_EQ(posts(), 2u);
}

TEST_F(EventsTest, WhatTheServerCannotTakeNowIsSentAgain) {
  int busy = 2;
  world_.transport.respond_with([&](const HttpRequest&) {
    return busy-- > 0 ? FakeReply{503, status_json(503, "ServiceUnavailable")}
                      : FakeReply{201, "{}"};
  });
  note("same");
  world_.loop.run_for(10s);
  EXPECT_EQ(posts(), 3u);
  const auto& sent = world_.transport.exchanges;
  EXPECT_EQ(sent.front()->request.body, sent.back()->request.body) << "the same event";
  note("same");
  EXPECT_EQ(posts(), 3u);
}

TEST_F(EventsTest, WhatTheServerRefusesIsNotSentAgainAndTheNextIsAFirst) {
  world_.transport.respond_with([](const HttpRequest&) {
    return FakeReply{403, status_json(403, "Forbidden")};
  });
  note("same");
  world_.loop.run_for(20s);
  EXPECT_EQ(posts(), 1u);
  note("same");
  EXPECT_EQ(posts(), 2u);
}

}  // namespace
}  // namespace berth
