// SPDX-License-Identifier: Apache-2.0
#include "controller/sim/server/wire.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "controller/sim/kube/actor_client.h"
#include "controller/sim/kube/simulation.h"

namespace berth::sim {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

struct Heard : ResponseSink {
  void on_head(int status, const std::vector<HttpHeader>&) override { code = status; }
  void on_bytes(std::string_view bytes) override { body += bytes; }
  void on_end(TransportOutcome how, std::string) override { ends.push_back(how); }
  int code = 0;
  std::string body;
  std::vector<TransportOutcome> ends;
};

struct WireTest : testing::Test {
  WireTest() { world.add(process); }
  std::shared_ptr<Heard> send(const std::string& method, const std::string& target,
                              const std::string& body = "", std::chrono::milliseconds limit = 10s) {
    HttpRequest request;
    request.method = method;
    request.target = target;
    request.headers = {{"content-type", "application/json"}};
    request.body = body;
    request.deadline = limit;
    auto heard = std::make_shared<Heard>();
    wire.start(std::move(request), heard, stop.get_token());
    return heard;
  }
  std::shared_ptr<Heard> create(const std::string& name) {
    const json object{{"apiVersion", "v1"}, {"kind", "Node"}, {"metadata", {{"name", name}}}};
    return send("POST", "/api/v1/nodes", object.dump());
  }
  std::shared_ptr<Heard> watch(const std::string& from) {
    return send("GET", "/api/v1/nodes?watch=true&resourceVersion=" + from, "", 0ms);
  }
  std::string now() { return std::to_string(world.store().revision()); }
  bool exists(const std::string& node) { return person.get("nodes", "", node) != nullptr; }
  void set_fate(ExchangeFault fault) {
    wire.faults.on_request = [fault](const HttpRequest&) { return fault; };
  }

  Simulation world{3};
  VirtualLoop process{world.clock()};
  Wire wire{process, world.loop(), world.server(), "someone", Random(5)};
  ActorClient person{world.server(), "person"};
  std::stop_source stop;
};

TEST_F(WireTest, ARequestIsAnsweredInItsOwnTimeAndNeverInline) {
  const auto heard = create("n1");
  EXPECT_FALSE(exists("n1"));
  world.run_for(20ms);
  EXPECT_EQ(heard->code, 201);
  EXPECT_THAT(heard->body, HasSubstr(R"("name":"n1")"));
  EXPECT_THAT(heard->ends, ElementsAre(TransportOutcome::kComplete));
}

TEST_F(WireTest, ARequestThatWasNotSentIsBrokenAndChangesNothing) {
  set_fate({.fate = ExchangeFate::kNotSent});
  const auto heard = create("n1");
  world.run_for(20ms);
  EXPECT_THAT(heard->ends, ElementsAre(TransportOutcome::kBroken));
  EXPECT_FALSE(exists("n1"));
}

TEST_F(WireTest, AReplyThatIsLostLeavesTheWriteStanding) {
  set_fate({.fate = ExchangeFate::kReplyLost});
  const auto heard = create("n1");
  world.run_for(20ms);
  EXPECT_THAT(heard->ends, ElementsAre(TransportOutcome::kBroken));
  EXPECT_EQ(heard->code, 0);
  EXPECT_TRUE(exists("n1"));
}

TEST_F(WireTest, AWriteMayLandLongAfterItsSenderGaveItUp) {
  set_fate({.fate = ExchangeFate::kAppliedLate, .delay = 3s});
  const auto heard = create("n1");
  world.run_for(1s);
  EXPECT_THAT(heard->ends, ElementsAre(TransportOutcome::kBroken));
  EXPECT_FALSE(exists("n1"));
  world.run_for(3s);
  EXPECT_TRUE(exists("n1"));
}

TEST_F(WireTest, ARefusalComesWithItsCodeAndChangesNothing) {
  set_fate({.fate = ExchangeFate::kRefused, .code = 429, .retry_after_s = 1});
  const auto heard = create("n1");
  world.run_for(20ms);
  EXPECT_EQ(heard->code, 429);
  EXPECT_THAT(heard->body, HasSubstr("TooManyRequests"));
  EXPECT_FALSE(exists("n1"));
}

TEST_F(WireTest, ASlowAnswerIsATimeoutAndAStopEndsTheWait) {
  set_fate({.fate = ExchangeFate::kAnswered, .delay = 1min});
  const auto slow = create("n1");
  world.run_for(11s);
  EXPECT_THAT(slow->ends, ElementsAre(TransportOutcome::kTimeout));
  const auto stopped = create("n2");
  stop.request_stop();
  EXPECT_THAT(stopped->ends, IsEmpty());
  world.run_for(1ms);
  EXPECT_THAT(stopped->ends, ElementsAre(TransportOutcome::kCancelled));
}

TEST_F(WireTest, WhatLeftBeforeTheCutArrivesAndWhatComesAfterDoesNot) {
  const auto before = create("before");
  wire.cut();
  const auto after = create("after");
  world.run_for(20ms);
  EXPECT_THAT(before->ends, ElementsAre(TransportOutcome::kBroken));
  EXPECT_THAT(after->ends, ElementsAre(TransportOutcome::kBroken));
  EXPECT_TRUE(exists("before"));
  EXPECT_FALSE(exists("after"));
}

TEST_F(WireTest, AWatchBringsChangesInOrderThoughOneIsLate) {
  const auto heard = watch(now());
  world.run_for(20ms);
  wire.faults.on_frame = [](const Change& change) {
    return change.key.name == "n1" ? FrameFault{FrameFate::kDelayed, 2s} : FrameFault{};
  };
  for (const char* name : {"n1", "n2"}) person.create("nodes", {{"metadata", {{"name", name}}}});
  world.run_for(1s);
  EXPECT_EQ(heard->code, 200);
  EXPECT_EQ(heard->body, "");
  world.run_for(2s);
  EXPECT_LT(heard->body.find(R"("name":"n1")"), heard->body.find(R"("name":"n2")"));
  EXPECT_THAT(heard->body, HasSubstr(R"("name":"n2")"));
  EXPECT_THAT(heard->ends, IsEmpty());
}

TEST_F(WireTest, AfterALostFrameTheWatchMustBeginAnew) {
  const std::string from = now();
  const auto heard = watch(from);
  world.run_for(20ms);
  wire.faults.on_frame = [](const Change&) { return FrameFault{FrameFate::kLost, 0s}; };
  person.create("nodes", {{"metadata", {{"name", "n1"}}}});
  world.run_for(20ms);
  EXPECT_THAT(heard->ends, ElementsAre(TransportOutcome::kBroken));
  EXPECT_EQ(heard->body, "");
  const auto again = watch(from);
  world.run_for(20ms);
  EXPECT_THAT(again->body, HasSubstr("410"));
}

TEST_F(WireTest, AFrozenProcessHearsEverythingWhenItThaws) {
  const auto heard = watch(now());
  world.run_for(20ms);
  world.remove(process);
  person.create("nodes", {{"metadata", {{"name", "n1"}}}});
  world.run_for(1min);
  EXPECT_EQ(heard->body, "");
  world.add(process);
  world.run_for(1ms);
  EXPECT_THAT(heard->body, HasSubstr("n1"));
}

}  // namespace
}  // namespace berth::sim
