// SPDX-License-Identifier: Apache-2.0
#include "controller/runtime/executor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "tests/runtime/world.h"

namespace berth {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAre;

constexpr char kPatchN1[] = "PATCH /api/v1/nodes/n1";
constexpr char kGetN1[] = "GET /api/v1/nodes/n1";
constexpr char kPods[] = "GET /api/v1/pods";
constexpr char kEvict[] = "POST /api/v1/namespaces/team/pods/p1/eviction";
constexpr char kEvents[] = "POST /apis/events.k8s.io/v1/namespaces/default/events";
constexpr char kStatus[] = "PATCH /apis/gpu.berth.dev/v1alpha1/miglayouts/a/status";
constexpr char kNode[] =
    R"({"kind":"Node","metadata":{"name":"n1","uid":"u1","resourceVersion":"42"}})";
constexpr char kBudgetSaysNo[] =
    R"({"kind":"Status","status":"Failure","reason":"TooManyRequests","code":429,"message":"Cannot evict",)"
    R"("details":{"causes":[{"reason":"DisruptionBudget","message":"budget b needs 1"}]}})";

ObjectRef node(const std::string& name = "n1") { return {"Node", "", name, "u1"}; }
ObjectRef pod() { return {"Pod", "team", "p1", "pu1"}; }
ObjectRef layout() { return {"MIGLayout", "", "a", "lu1"}; }
Write patch(const std::string& name = "n1") {
  return {.verb = Verb::kJsonPatch,
          .object = node(name),
          .body = "[]",
          .field_manager = "berth-mig",
          .reason = "test"};
}
Write evict() { return {.verb = Verb::kEvict, .object = pod(), .grace_period_seconds = 5}; }
StatusUpdate status(bool urgent = false) {
  return {.object = layout(), .body = R"({"status":{}})", .differs = true, .urgent = urgent};
}

class ExecutorTest : public ::testing::Test {
 protected:
  Outcome run(Plan plan) {
    std::optional<Outcome> outcome;
    start(std::move(plan), outcome);
    world_.settle();
    EXPECT_TRUE(outcome.has_value());
    return outcome.value_or(Outcome{});
  }
  void start(Plan plan, std::optional<Outcome>& outcome, const std::string& key = "key") {
    auto task = [](Executor& executor, std::string name, Plan what, std::stop_token stop,
                   std::optional<Outcome>& out) -> Task<void> {
      Outcome result = co_await executor.run(name, what, stop);
      out.emplace(std::move(result));
    };
    spawn(world_.loop, task(executor_, key, std::move(plan), stop_.get_token(), outcome));
  }
  void answer(std::size_t exchange) {
    const auto asked = world_.transport.exchanges.at(exchange);
    asked->head(200);
    asked->bytes(kNode);
    asked->end();
    world_.settle();
  }
  // All that is open from here on, and what comes of it.
  void answer_all(std::size_t from) {
    world_.transport.respond_with([](const HttpRequest&) { return FakeReply{200, kNode}; });
    for (const std::size_t end = world_.transport.exchanges.size(); from < end; ++from)
      answer(from);
  }
  std::optional<Answer> answer_to(const Step& step) {
    const Answer* answer = answers_.find(question(step), world_.loop.wall_now(), 30s);
    return answer == nullptr ? std::nullopt : std::optional<Answer>(*answer);
  }
  Guard guard(std::optional<std::string> refusal) {
    return {.node = node(),
            .question = "empty",
            .refuse = [this, refusal](const Node& seen, const std::vector<Pod>& pods) {
              seen_ = seen.meta.resource_version + "/" + std::to_string(pods.size());
              return refusal;
            }};
  }

  World world_;
  std::stop_source stop_;
  std::chrono::nanoseconds time_left_ = 8s;
  Answers answers_;
  std::vector<std::string> released_;
  WriteBarrier barrier_{
      world_.loop, WriteBarrier::Hooks{
                       .cached =
                           [](const ObjectRef& object) {
                             return CachedVersion{object.uid, "1", false};
                           },
                       .refetch = [](const ObjectRef&) {},
                       .released = [this](const std::string& key) { released_.push_back(key); }}};
  Events events_{world_.client, world_.log, Events::Options{.instance = "me"}};
  Executor executor_{Executor::Parts{world_.client, world_.log, world_.metrics, answers_, barrier_,
                                     events_, [this] { return time_left_; }},
                     Executor::Options{}};
  std::string seen_;
};

TEST_F(ExecutorTest, StepsOfOneObjectRunInOrderAndOfSeveralAtOnce) {
  Plan plan;
  plan.add(node("n1"), patch("n1"));
  Write second = patch("n1");
  second.reason = "and then";
  plan.add(node("n1"), second);
  plan.add(node("n2"), patch("n2"));
  std::optional<Outcome> outcome;
  start(plan, outcome);
  world_.settle();
  EXPECT_THAT(world_.sent(), ElementsAre(kPatchN1, "PATCH /api/v1/nodes/n2"));
  for (const char* name : {kPatchN1, "PATCH /api/v1/nodes/n2", kPatchN1}) {
    const auto open = world_.transport.open(name);
    ASSERT_NE(open, nullptr) << name;
    open->head(200);
    open->bytes(kNode);
    open->end();
    world_.settle();
  }
  ASSERT_TRUE(outcome.has_value());
  EXPECT_EQ(outcome->fate, Fate::kDone);
  EXPECT_EQ(outcome->writes, 3u);
  EXPECT_TRUE(barrier_.holds("key"));
}

TEST_F(ExecutorTest, AGuardSeesTheLiveNodeAndEveryPageOfItsPods) {
  Plan plan;
  plan.add(node(), guard(std::nullopt));
  plan.add(node(), patch());
  world_.transport.script(kGetN1, {200, kNode});
  world_.transport.script(
      kPods, {200, R"({"kind":"PodList","metadata":{"resourceVersion":"9","continue":"c"},)"
                   R"("items":[{"metadata":{"name":"a","namespace":"x"}}]})"});
  world_.transport.script(kPods, {200, R"({"kind":"PodList","metadata":{"resourceVersion":"9"},)"
                                       R"("items":[{"metadata":{"name":"b","namespace":"x"}}]})"});
  world_.transport.script(kPatchN1, {200, kNode});
  EXPECT_EQ(run(plan).fate, Fate::kDone);
  EXPECT_EQ(seen_, "42/2");
  const auto targets = world_.transport.targets();
  EXPECT_THAT(targets[1], HasSubstr("fieldSelector=spec.nodeName%3Dn1"));
  EXPECT_THAT(targets[1], ::testing::Not(HasSubstr("resourceVersion")));
  EXPECT_THAT(targets[2], HasSubstr("continue=c"));
}

TEST_F(ExecutorTest, AGuardsRefusalDropsTheRestOfItsObjectAndIsAnAnswer) {
  Plan plan;
  plan.add(node(), guard("pod x/y is bound to it"));
  plan.add(node(), patch());
  plan.events.push_back({.regarding = node(), .reason = "Applied"});
  world_.transport.script(kGetN1, {200, kNode});
  world_.transport.script(kPods, {200, R"({"kind":"PodList","metadata":{},"items":[]})"});
  const Outcome outcome = run(plan);
  EXPECT_EQ(outcome.fate, Fate::kRefused);
  EXPECT_EQ(world_.count(kPatchN1), 0u);
  EXPECT_EQ(world_.count(kEvents), 0u);
  const auto answer = answer_to(plan.objects[0].steps[0]);
  ASSERT_TRUE(answer.has_value());
  EXPECT_FALSE(answer->yes);
  EXPECT_EQ(answer->error.message, "pod x/y is bound to it");
}

TEST_F(ExecutorTest, AGuardThatCannotBeAskedIsARefusalToo) {
  Plan plan;
  plan.add(node(), guard(std::nullopt));
  plan.add(node(), patch());
  world_.transport.script(kGetN1, {200, kNode});
  world_.transport.script(kPods, {500, status_json(500, "InternalError")});
  EXPECT_EQ(run(plan).fate, Fate::kRetry);
  EXPECT_EQ(world_.count(kPatchN1), 0u);
}

TEST_F(ExecutorTest, AnAskedNoIsAnAnswerAndKeepsTheEvictionUnsent) {
  Plan plan;
  plan.add(pod(), Ask{.pod = pod(), .against = "7"});
  plan.add(pod(), evict());
  world_.transport.script(kEvict, {429, kBudgetSaysNo});
  const Outcome outcome = run(plan);
  EXPECT_EQ(outcome.fate, Fate::kAnswered);
  EXPECT_EQ(world_.count(kEvict), 1u);
  EXPECT_THAT(world_.transport.exchanges[0]->request.body, HasSubstr("dryRun"));
  EXPECT_THAT(world_.transport.exchanges[0]->request.body, HasSubstr("pu1"));
  const auto answer = answer_to(evict());  // the eviction's own question
  ASSERT_TRUE(answer.has_value());
  EXPECT_FALSE(answer->yes);
  EXPECT_EQ(answer->against, "7");
  EXPECT_EQ(answer->error.http_code, 429);
}

TEST_F(ExecutorTest, AnAskedYesLetsTheEvictionGo) {
  Plan plan;
  plan.add(pod(), Ask{.pod = pod(), .against = "7"});
  plan.add(pod(), evict());
  world_.transport.script(kEvict, {201, R"({"kind":"Status","status":"Success"})"});
  world_.transport.script(kEvict, {201, R"({"kind":"Status","status":"Success"})"});
  EXPECT_EQ(run(plan).fate, Fate::kDone);
  EXPECT_THAT(world_.transport.exchanges[1]->request.body, ::testing::Not(HasSubstr("dryRun")));
  EXPECT_THAT(world_.transport.exchanges[1]->request.body, HasSubstr(R"("gracePeriodSeconds":5)"));
  EXPECT_TRUE(answer_to(evict())->yes);
  EXPECT_TRUE(barrier_.holds("key"));  // until the cache shows the pod going
}

TEST_F(ExecutorTest, AServerThatThrottlesHasSaidNothingOfThePod) {
  Plan plan;
  plan.add(pod(), Ask{.pod = pod(), .against = "7"});
  world_.transport.script(kEvict, {.status = 429,
                                   .body = status_json(429, "TooManyRequests"),
                                   .headers = {{"Retry-After", "3"}}});
  const Outcome outcome = run(plan);
  EXPECT_EQ(outcome.fate, Fate::kRetry);
  EXPECT_EQ(outcome.retry_after, 3s);
  EXPECT_FALSE(answer_to(evict()).has_value());
}

TEST_F(ExecutorTest, ErrorsAreToldApartByTheirFate) {
  const struct {
    int code;
    const char* reason;
    Fate fate;
    const char* message = "no";
  } cases[] = {
      {409, "Conflict", Fate::kConflict},
      {404, "NotFound", Fate::kConflict},
      {422, "Invalid", Fate::kConflict,  // a failed JSON patch test
       "the server rejected our request due to an error in our request"},
      {422, "Invalid", Fate::kRejected, "spec is wrong"},
      {403, "Forbidden", Fate::kRejected},
      {400, "BadRequest", Fate::kRejected, "not like this"},
      {503, "ServiceUnavailable", Fate::kRetry},
      {500, "InternalError", Fate::kRetry},
      {504, "Timeout", Fate::kRetry},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.code);
    Plan plan;
    plan.add(node(), patch());
    Write second = patch();
    second.reason = "and then";
    plan.add(node(), second);
    world_.transport.script(kPatchN1, {c.code, status_json(c.code, c.reason, c.message)});
    const std::size_t before = world_.count(kPatchN1);
    // What is refused for good is told on the object, in the server's words.
    const bool refused = c.fate == Fate::kRejected;
    if (refused) world_.transport.script(kEvents, {201, "{}"});
    const std::size_t told = world_.count(kEvents);
    const Outcome outcome = run(plan);
    EXPECT_EQ(world_.count(kEvents), told + (refused ? 1 : 0));
    if (refused) {
      const HttpRequest& event = world_.transport.exchanges.back()->request;
      EXPECT_THAT(event.body, HasSubstr("WriteRefused"));
      EXPECT_THAT(event.body, HasSubstr(c.message));
      const std::optional<Answer> answer = answer_to(patch());
      ASSERT_TRUE(answer);
      EXPECT_EQ(answer->object, "Node/n1");
      EXPECT_EQ(answer->reason, "test");
      EXPECT_EQ(answer->field_manager, "berth-mig");
    }
    EXPECT_STREQ(to_string(outcome.fate), to_string(c.fate));
    EXPECT_EQ(world_.count(kPatchN1), before + 1);  // the second step is dropped
    EXPECT_EQ(outcome.conflicts.size(), c.fate == Fate::kConflict ? 1u : 0u);
  }
}

TEST_F(ExecutorTest, NothingLeavesOnceTheLeaseHasRunOut) {
  Plan plan;
  plan.add(node(), patch());
  plan.add(pod(), Ask{.pod = pod()});
  plan.statuses.push_back(status());
  time_left_ = 0s;
  EXPECT_EQ(run(plan).fate, Fate::kStopped);
  EXPECT_THAT(world_.sent(), IsEmpty());
}

TEST_F(ExecutorTest, NoRequestOutlivesTheLease) {
  Plan plan;
  plan.add(node(), patch());
  time_left_ = 3s;
  world_.transport.script(kPatchN1, {200, kNode});
  run(plan);
  EXPECT_LE(world_.transport.exchanges[0]->request.deadline, 3s);
}

TEST_F(ExecutorTest, AtMostThirtyTwoWritesAreUnderWay) {
  Plan plan;
  for (int i = 0; i < 40; ++i) {
    const std::string name = "n" + std::to_string(i);
    plan.add(node(name), patch(name));
  }
  std::optional<Outcome> outcome;
  start(plan, outcome);
  world_.settle();
  EXPECT_EQ(world_.transport.exchanges.size(), 32u);
  world_.transport.respond_with([](const HttpRequest&) { return FakeReply{200, kNode}; });
  const auto first = world_.transport.exchanges;
  for (const auto& exchange : first) {
    exchange->head(200);
    exchange->bytes(kNode);
    exchange->end();
  }
  world_.settle();
  ASSERT_TRUE(outcome.has_value());
  EXPECT_EQ(outcome->writes, 40u);
}

TEST_F(ExecutorTest, WhoHasMuchToWriteDoesNotHoldUpWhoHasLittle) {
  Plan much, little;
  for (int i = 0; i < 40; ++i) {
    const std::string name = "n" + std::to_string(i);
    much.add(node(name), patch(name));
  }
  little.add(node("other"), patch("other"));
  std::optional<Outcome> first, second;
  start(much, first);
  world_.settle();
  start(little, second, "another key");
  world_.settle();
  answer(0);
  answer(1);
  ASSERT_EQ(world_.transport.exchanges.size(), 34u);
  EXPECT_THAT(world_.transport.exchanges[32]->request.target, HasSubstr("/nodes/n32"));
  EXPECT_THAT(world_.transport.exchanges[33]->request.target, HasSubstr("/nodes/other"));
  answer_all(2);
  EXPECT_TRUE(first.has_value() && second.has_value());
}

TEST_F(ExecutorTest, WhatHasBegunGoesOnBeforeWhatWaits) {
  Plan plan;
  for (int i = 0; i < 40; ++i) {
    const ObjectRef leaving{"Pod", "team", "p" + std::to_string(i), "pu1"};
    plan.add(leaving, Ask{.pod = leaving, .against = "1"});
    plan.add(leaving, Write{.verb = Verb::kEvict, .object = leaving});
  }
  std::optional<Outcome> outcome;
  start(plan, outcome);
  world_.settle();
  answer(0);
  ASSERT_EQ(world_.transport.exchanges.size(), 33u);
  EXPECT_THAT(world_.transport.exchanges[32]->request.target, HasSubstr("/pods/p0/eviction"));
  EXPECT_THAT(world_.transport.exchanges[32]->request.target, Not(HasSubstr("dryRun")));
  answer_all(1);
  EXPECT_TRUE(outcome.has_value());
}

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

using ExecutorDeathTest = ExecutorTest;
TEST_F(ExecutorDeathTest, APlanForAKindThatBerthDoesNotWriteIsABug) {
  Plan plan;
  plan.add({"Widget", "", "w", "1"}, Write{.object = {"Widget", "", "w", "1"}, .body = "[]"});
  EXPECT_DEATH(run(plan), "a plan names a kind that berth does not write: Widget");
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

TEST_F(ExecutorTest, WhatIsObservedCountsOnceItsObjectsStepsHaveSucceeded) {
  static constexpr double kBuckets[] = {1, 10};
  static const Measure kDone = {
      .type = Measure::Type::kCounter, .name = "berth_test_total", .help = "Tests."};
  static const Measure kTook = {.type = Measure::Type::kHistogram,
                                .name = "berth_test_seconds",
                                .help = "Tests.",
                                .buckets = kBuckets};
  Plan plan;
  plan.add(node("n1"), patch("n1"));
  plan.add(node("n2"), patch("n2"));
  for (const char* name : {"n1", "n2"}) {
    plan.observations.push_back({node(name), &kDone, {{"node", name}}, 1});
    plan.observations.push_back({node(name), &kTook, {}, 5});
  }
  world_.transport.script("PATCH /api/v1/nodes/n2", {409, status_json(409, "Conflict")});
  world_.transport.script(kPatchN1, {200, kNode});
  run(plan);
  const std::string text = world_.metrics.text();
  EXPECT_THAT(text, HasSubstr("berth_test_total{node=\"n1\"} 1"));
  EXPECT_THAT(text, Not(HasSubstr("berth_test_total{node=\"n2\"}")));
  EXPECT_THAT(text, HasSubstr("berth_test_seconds_count 1"));
  EXPECT_THAT(text, HasSubstr("berth_test_seconds_bucket{le=\"10\"} 1"));
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
