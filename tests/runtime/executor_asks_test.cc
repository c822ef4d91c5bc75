// SPDX-License-Identifier: Apache-2.0
// Dry-run evictions, by themselves, before an eviction and before a Job is taken back.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "tests/runtime/executor_run.h"

namespace berth {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::Not;

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

class GangsQuestions : public ExecutorTest {
 protected:
  // A Job is taken back: each of its pods is asked about before.
  static Plan plan_for(int pods) {
    const ObjectRef job{"Job", "team", "train", "ju1"};
    Plan plan;
    for (int i = 0; i < pods; ++i)
      plan.add(job, Ask{.pod = {"Pod", "team", "p" + std::to_string(i), "pu1"}, .against = "1"});
    plan.add(job, Write{.verb = Verb::kMergePatch, .object = job, .body = "{}"});
    return plan;
  }
  static constexpr char kPatchJob[] = "PATCH /apis/batch/v1/namespaces/team/jobs/train";
};

TEST_F(GangsQuestions, AreSentAtOnceAndTheWriteAfterTheLastAnswer) {
  std::optional<Outcome> outcome;
  start(plan_for(40), outcome);
  world_.settle();
  ASSERT_EQ(world_.transport.exchanges.size(), 32u);
  answer_all(1);
  EXPECT_EQ(world_.transport.exchanges.size(), 40u) << "the first is not answered yet";
  EXPECT_EQ(world_.count(kPatchJob), 0u);
  answer(0);
  EXPECT_EQ(world_.count(kPatchJob), 1u);
  ASSERT_TRUE(outcome.has_value());
  EXPECT_EQ(outcome->fate, Fate::kDone);
  EXPECT_EQ(outcome->steps, 41u);
  EXPECT_EQ(outcome->writes, 1u);
}

TEST_F(GangsQuestions, OneNoOfSeveralKeepsTheWriteUnsentAndAllAreAnswers) {
  const Plan plan = plan_for(3);
  world_.transport.script("POST /api/v1/namespaces/team/pods/p1/eviction", {429, kBudgetSaysNo});
  world_.transport.respond_with([](const HttpRequest&) { return FakeReply{201, kNode}; });
  const Outcome outcome = run(plan);
  EXPECT_EQ(outcome.fate, Fate::kAnswered);
  EXPECT_EQ(outcome.steps, 3u);
  EXPECT_EQ(world_.count(kPatchJob), 0u);
  for (const std::size_t asked : {0u, 1u, 2u}) {
    const auto answer = answer_to(plan.objects[0].steps[asked]);
    ASSERT_TRUE(answer.has_value()) << asked;
    EXPECT_EQ(answer->yes, asked != 1) << asked;
  }
}

}  // namespace
}  // namespace berth
