// SPDX-License-Identifier: Apache-2.0
// What the executor tells: statuses, and the events that go with them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/runtime/executor_run.h"

namespace berth {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAre;

TEST_F(ExecutorTest, AStatusIsSentIfItDiffersAndAtMostEveryFiveSeconds) {
  Plan plan;
  plan.statuses.push_back(status());
  for (int i = 0; i < 4; ++i)
    world_.transport.script(kStatus, {200, R"({"metadata":{"resourceVersion":"9"}})"});
  EXPECT_EQ(run(plan).fate, Fate::kDone);
  EXPECT_EQ(world_.count(kStatus), 1u);
  EXPECT_THAT(world_.transport.targets().back(), HasSubstr("fieldManager=berth-status"));
  world_.loop.run_for(2s);
  EXPECT_EQ(run(plan).status_due, 3s);
  EXPECT_EQ(world_.count(kStatus), 1u);
  plan.statuses[0].urgent = true;
  run(plan);
  EXPECT_EQ(world_.count(kStatus), 2u);
  plan.statuses[0].urgent = false;
  world_.loop.run_for(6s);
  run(plan);
  EXPECT_EQ(world_.count(kStatus), 3u);
  plan.statuses[0].differs = false;
  world_.loop.run_for(6s);
  EXPECT_EQ(run(plan).fate, Fate::kNothing);
  EXPECT_EQ(world_.count(kStatus), 3u);
}

TEST_F(ExecutorTest, AStatusGoesAfterTheStepsOfItsObject) {
  Plan plan;
  plan.add(layout(), Write{.verb = Verb::kMergePatch, .object = layout(), .body = "{}"});
  plan.statuses.push_back(status());
  std::optional<Outcome> outcome;
  start(plan, outcome);
  world_.settle();
  EXPECT_EQ(world_.count(kStatus), 0u);
  world_.transport.script(kStatus, {200, R"({"metadata":{"resourceVersion":"9"}})"});
  const auto patch = world_.transport.open("PATCH /apis/gpu.berth.dev/v1alpha1/miglayouts/a");
  ASSERT_NE(patch, nullptr);
  patch->head(409);
  patch->bytes(status_json(409, "Conflict"));
  patch->end();
  world_.settle();
  EXPECT_EQ(world_.count(kStatus), 1u);
  ASSERT_TRUE(outcome.has_value());
  EXPECT_EQ(outcome->fate, Fate::kConflict);
}

TEST_F(ExecutorTest, AStatusOfAnObjectThatThePlanItselfMovedWaitsForTheNextLook) {
  Plan plan;
  plan.add(layout(), Write{.verb = Verb::kMergePatch, .object = layout(), .body = "{}"});
  plan.statuses.push_back(status());
  world_.transport.script("PATCH /apis/gpu.berth.dev/v1alpha1/miglayouts/a",
                          {200, R"({"metadata":{"resourceVersion":"9"}})"});
  EXPECT_EQ(run(plan).fate, Fate::kDone);
  EXPECT_EQ(world_.count(kStatus), 0u);
}

TEST_F(ExecutorTest, StatusesThatAreUnderWayLeaveRoomForWritesThatAct) {
  Plan reports;
  for (int i = 0; i < 100; ++i) {
    reports.statuses.push_back(status());
    reports.statuses.back().object.name = "a" + std::to_string(i);
  }
  std::optional<Outcome> reported, acted;
  start(reports, reported, "reports");
  world_.settle();
  EXPECT_EQ(world_.sent().size(), 8u) << "at once";
  Plan acts;
  acts.add(node(), patch());
  start(acts, acted, "acts");
  world_.settle();
  EXPECT_EQ(world_.count(kPatchN1), 1u);
  answer_all(0);
  EXPECT_EQ(world_.sent().size(), 101u);
  EXPECT_TRUE(reported && acted);
}

TEST_F(ExecutorTest, StatusesAndEventsAreReportsAndTheRestActs) {
  world_.client.limit(Traffic::kReporting, TokenBucket(0.2, 1));
  Plan plan;
  plan.add(node(), guard(std::nullopt));
  plan.add(node(), patch());
  plan.statuses.push_back(status());
  plan.events.push_back({.regarding = node(), .reason = "Cordoned"});
  world_.transport.respond_with([](const HttpRequest&) { return FakeReply{200, kNode}; });
  std::optional<Outcome> outcome;
  start(plan, outcome);
  world_.settle();
  EXPECT_THAT(world_.sent(), UnorderedElementsAre(kStatus, kGetN1, kPods, kPatchN1));
  world_.loop.run_for(5s);
  EXPECT_EQ(world_.count(kEvents), 1u) << "after the status";
}

TEST_F(ExecutorTest, AStatusThatComesTooLateIsNoCauseForAlarm) {
  Plan plan;
  plan.statuses.push_back(status());
  world_.transport.script(kStatus, {409, status_json(409, "Conflict")});
  const Outcome outcome = run(plan);
  EXPECT_EQ(outcome.fate, Fate::kConflict);
  EXPECT_THAT(outcome.conflicts, ElementsAre(layout()));
  EXPECT_THAT(world_.log.lines, ElementsAre(StartsWith("info status not written")));
  // It was not written, so the next one need not wait.
  world_.transport.script(kStatus, {200, R"({"metadata":{"resourceVersion":"9"}})"});
  EXPECT_EQ(run(plan).fate, Fate::kDone);
}

TEST_F(ExecutorTest, AnEventIsSentForWhatHasHappened) {
  Plan plan;
  plan.add(node(), patch());
  plan.events.push_back(
      {.regarding = node(), .reason = "Cordoned", .action = "Cordon", .note = "for layout \"a\""});
  world_.transport.script(kPatchN1, {200, kNode});
  world_.transport.script(kEvents, {201, "{}"});
  run(plan);
  ASSERT_EQ(world_.count(kEvents), 1u);
  const std::string body = world_.transport.exchanges.back()->request.body;
  EXPECT_THAT(body, HasSubstr(R"("reason":"Cordoned")"));
  EXPECT_THAT(body, HasSubstr(R"("note":"for layout \"a\"")"));
  EXPECT_THAT(body, HasSubstr(R"("regarding":{"apiVersion":"v1","kind":"Node","name":"n1")"));
}

// As of a StatefulSet, which berth does not watch, when one of its pods is told.
TEST_F(ExecutorTest, AnEventOnWhatIsNotWatchedHangsOnTheStepsOfWhatIsRelated) {
  Plan plan;
  plan.add(node(), patch());
  plan.events.push_back({.regarding = {"StatefulSet", "team-a", "web", "u9"},
                         .reason = "GPUsIdle",
                         .action = "Notify",
                         .note = "1 of its pods",
                         .api_version = "apps/v1",
                         .related = node()});
  constexpr char kEventsOfTeam[] = "POST /apis/events.k8s.io/v1/namespaces/team-a/events";
  world_.transport.script(kPatchN1, {409, status_json(409, "Conflict")});
  run(plan);
  EXPECT_EQ(world_.count(kEventsOfTeam), 0u) << "nobody was told";
  world_.transport.script(kPatchN1, {200, kNode});
  world_.transport.script(kEventsOfTeam, {201, "{}"});
  run(plan);
  ASSERT_EQ(world_.count(kEventsOfTeam), 1u);
  EXPECT_THAT(world_.transport.exchanges.back()->request.body,
              HasSubstr(R"("regarding":{"apiVersion":"apps/v1","kind":"StatefulSet","name":"web",)"
                        R"("uid":"u9","namespace":"team-a"},"related":{"apiVersion":"v1",)"
                        R"("kind":"Node","name":"n1")"));
}

// Whoever comes after goes by the status: what is told without it would be told again.
TEST_F(ExecutorTest, WhatAStatusIsTheFirstToSayIsToldOnceItIsWritten) {
  Plan plan;
  plan.statuses.push_back(status());
  plan.statuses[0].events.push_back(
      {.regarding = layout(), .reason = "NodeUpdated", .action = "Rollout", .note = "1 of 2"});
  world_.transport.script(kStatus, {409, status_json(409, "Conflict")});
  run(plan);
  EXPECT_EQ(world_.count(kEvents), 0u) << "computed from less than stands there by now";
  world_.transport.script(kStatus, {200, R"({"metadata":{"resourceVersion":"9"}})"});
  world_.transport.script(kEvents, {201, "{}"});
  run(plan);
  ASSERT_EQ(world_.count(kEvents), 1u);
  EXPECT_THAT(
      world_.transport.exchanges.back()->request.body,
      HasSubstr(R"("regarding":{"apiVersion":"gpu.berth.dev/v1alpha1","kind":"MIGLayout")"));
  plan.statuses[0].events[0].note = "2 of 2";
  EXPECT_TRUE(run(plan).status_due);
  EXPECT_EQ(world_.count(kEvents), 1u) << "held back with its status";
}

}  // namespace
}  // namespace berth
