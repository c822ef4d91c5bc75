// SPDX-License-Identifier: Apache-2.0
#include "controller/runtime/executor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "tests/runtime/executor_run.h"

namespace berth {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

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

TEST_F(ExecutorTest, AWriteThatSucceededIsToldWithTheObjectThatAskedForIt) {
  world_.transport.script(kPatchN1, {200, kNode});
  world_.transport.script(kPatchN1, {409, status_json(409, "Conflict")});
  Plan plan;
  plan.cause = "MIGLayout/a generation 4";
  plan.add(node(), patch());
  run(plan);
  run(plan);
  EXPECT_THAT(wrote_, ::testing::ElementsAre("Node/n1, for MIGLayout/a generation 4"));
  EXPECT_THAT(world_.log.lines,
              ::testing::Contains(::testing::AllOf(
                  ::testing::HasSubstr("info write key=key"),
                  ::testing::HasSubstr("reason=test cause=MIGLayout/a generation 4 result=done"))));
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

TEST_F(ExecutorTest, ThatTheNodeIsGoneIsAYesOnlyToAGuardThatSaysSo) {
  Plan plan;
  plan.add(node(), guard(std::nullopt));
  plan.add(node(), patch());
  world_.transport.script(kGetN1, {404, status_json(404, "NotFound")});
  EXPECT_EQ(run(plan).fate, Fate::kConflict);
  EXPECT_EQ(world_.count(kPatchN1), 0u);
  EXPECT_FALSE(answer_to(plan.objects[0].steps[0]).has_value());

  std::get<Guard>(plan.objects[0].steps[0]).yes_if_gone = true;
  world_.transport.script(kGetN1, {404, status_json(404, "NotFound")});
  world_.transport.script(kPatchN1, {200, kNode});
  EXPECT_EQ(run(plan).fate, Fate::kDone);
  EXPECT_EQ(world_.count(kPods), 0u);
  const auto answer = answer_to(plan.objects[0].steps[0]);
  ASSERT_TRUE(answer.has_value());
  EXPECT_TRUE(answer->yes);
}

TEST_F(ExecutorTest, AGuardOfAllNodesSeesEveryPageOfThem) {
  constexpr char kAllNodes[] = "GET /api/v1/nodes";
  constexpr char kPatchLayout[] = "PATCH /apis/gpu.berth.dev/v1alpha1/miglayouts/a";
  const auto page = [](const std::string& name, const std::string& next) {
    return FakeReply{200, R"({"kind":"NodeList","metadata":{"resourceVersion":"9","continue":")" +
                              next + R"("},"items":[{"metadata":{"name":")" + name + R"("}}]})"};
  };
  std::string seen;
  std::optional<std::string> refusal;
  Guard all;
  all.node = layout();
  all.question = "is every node back?";
  all.refuse_any = [&](const std::vector<Node>& nodes) {
    for (const Node& each : nodes) seen += each.meta.name + " ";
    return refusal;
  };
  Write last = patch();
  last.object = layout();
  Plan plan;
  plan.add(layout(), all);
  plan.add(layout(), last);
  world_.transport.script(kAllNodes, page("n1", "c"));
  world_.transport.script(kAllNodes, page("n2", ""));
  world_.transport.script(kPatchLayout, {200, kNode});
  EXPECT_EQ(run(plan).fate, Fate::kDone);
  EXPECT_EQ(seen, "n1 n2 ");
  EXPECT_THAT(world_.transport.targets()[0], Not(HasSubstr("resourceVersion"))) << "by quorum";
  EXPECT_EQ(world_.count(kPatchLayout), 1u);

  refusal = "n1 is not back";
  world_.transport.script(kAllNodes, page("n1", ""));
  EXPECT_EQ(run(plan).fate, Fate::kRefused);
  refusal.reset();
  world_.transport.script(kAllNodes, page("n1", "c"));
  world_.transport.script(kAllNodes, {500, status_json(500, "InternalError")});
  EXPECT_EQ(run(plan).fate, Fate::kRetry) << "half of them will not do";
  EXPECT_EQ(world_.count(kPatchLayout), 1u);
}

// A read of an object that berth does not watch: what is not there, or may not be read, is an
// answer; what the server could not say is none.
TEST_F(ExecutorTest, AGuardOfOneObjectSeesItLiveOrWhyItCantBeSeen) {
  static constexpr KindInfo kTFJob{"kubeflow.org", "v1", "tfjobs", "TFJob", true};
  constexpr char kGet[] = "GET /apis/kubeflow.org/v1/namespaces/team/tfjobs/tf%2Fx";
  std::string seen;
  Guard look;
  look.node = {"TFJob", "team", "tf/x", "u"};
  look.question = "does it create its pods again";
  look.kind = &kTFJob;
  std::optional<std::string> refusal;
  look.refuse_object = [&](const Result<std::string>& object) {
    seen = object ? *object : to_string(object.error().kind);
    return refusal;
  };
  Plan plan;
  plan.add(pod(), look);
  plan.add(pod(), evict());
  world_.transport.script(kGet, {200, R"({"metadata":{}})"});
  world_.transport.script(kEvict, {201, kNode});
  EXPECT_EQ(run(plan).fate, Fate::kDone);
  EXPECT_EQ(seen, R"({"metadata":{}})");
  EXPECT_EQ(world_.count(kEvict), 1u);
  ASSERT_TRUE(answer_to(plan.objects[0].steps[0]).has_value());
  EXPECT_TRUE(answer_to(plan.objects[0].steps[0])->yes);

  refusal = "it would fail";
  for (const int code : {200, 403, 404}) {
    const char* reason = code == 403 ? "Forbidden" : "NotFound";
    world_.transport.script(kGet, {code, code == 200 ? "{}" : status_json(code, reason)});
    EXPECT_EQ(run(plan).fate, Fate::kAnswered) << code;
    EXPECT_EQ(answer_to(plan.objects[0].steps[0])->error.message, "it would fail") << code;
  }
  refusal.reset();
  world_.transport.script(kGet, {500, status_json(500, "InternalError")});
  EXPECT_EQ(run(plan).fate, Fate::kRetry);
  EXPECT_EQ(world_.count(kEvict), 1u) << "no pod is evicted unread";
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

using ExecutorDeathTest = ExecutorTest;
TEST_F(ExecutorDeathTest, APlanForAKindThatBerthDoesNotWriteIsABug) {
  Plan plan;
  plan.add({"Widget", "", "w", "1"}, Write{.object = {"Widget", "", "w", "1"}, .body = "[]"});
  EXPECT_DEATH(run(plan), "a plan names a kind that berth does not write: Widget");
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

}  // namespace
}  // namespace berth
