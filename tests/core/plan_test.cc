// SPDX-License-Identifier: Apache-2.0
#include "controller/core/plan.h"

#include <gtest/gtest.h>

#include "apis/base/cut.h"
#include "controller/core/answers.h"
#include "controller/core/conditions.h"
#include "controller/core/json_patch.h"

namespace berth {
namespace {

using std::chrono::seconds;

TEST(JsonPatch, EscapesKeysAndValuesAsRfc6901And8259Say) {
  JsonPatch patch;
  patch.test("/metadata/uid", "u\"1").test_absent(annotation_path("gpu.berth.dev/a~b"));
  patch.set(label_path("nvidia.com/mig.config"), "x").remove("/spec/unschedulable");
  EXPECT_EQ(patch.str(),
            R"([{"op":"test","path":"/metadata/uid","value":"u\"1"},)"
            R"({"op":"test","path":"/metadata/annotations/gpu.berth.dev~1a~0b","value":null},)"
            R"({"op":"add","path":"/metadata/labels/nvidia.com~1mig.config","value":"x"},)"
            R"({"op":"remove","path":"/spec/unschedulable"}])");
}

TEST(JsonPatch, BytesThatAreNotUtf8DoNotThrow) {
  EXPECT_EQ(quote_json("a\xff"), "\"a\xef\xbf\xbd\"");
}

TEST(JsonPatch, QuotesText) {
  EXPECT_EQ(quote_json("a b~"), "\"a b~\"");
  EXPECT_EQ(quote_json(""), "\"\"");
  EXPECT_EQ(quote_json("a\\b"), "\"a\\\\b\"");
  EXPECT_EQ(quote_json("a\"b\\c\n\x01\x7fü"), "\"a\\\"b\\\\c\\n\\u0001\x7fü\"");
}

TEST(JsonPatch, QuotesTextAsGoDoes) {
  EXPECT_EQ(quote_json("a<b>&c"), R"("a\u003cb\u003e\u0026c")");
  EXPECT_EQ(quote_json("a\u2028b\u2029c"), R"("a\u2028b\u2029c")");
  EXPECT_EQ(quote_json("\u2027\u202a\u00e2"), "\"\u2027\u202a\u00e2\"") << "their neighbours";
  EXPECT_EQ(quote_json("\b\f\r\t\x1f"), R"("\b\f\r\t\u001f")");
  EXPECT_EQ(quote_json("\xe2\x80"), "\"\ufffd\"") << "half of one";
}

TEST(Plan, StepsOfOneObjectStayTogetherInOrder) {
  Plan plan;
  ObjectRef a{"Node", "", "a", "1"}, b{"Node", "", "b", "2"};
  plan.add(a, Write{.object = a, .body = "[1]", .reason = "first"});
  plan.add(b, Write{.object = b, .body = "[2]", .reason = "other"});
  plan.add(a, Write{.object = a, .body = "[3]", .reason = "second"});
  ASSERT_EQ(plan.objects.size(), 2u);
  EXPECT_EQ(print(plan),
            "jsonpatch Node/a: first\n    [1]\n"
            "jsonpatch Node/a: second\n    [3]\n"
            "jsonpatch Node/b: other\n    [2]\n");
}

TEST(Plan, AnObjectIsItsUidAndItsNamespaceToo) {
  Plan plan;
  const ObjectRef a{"Pod", "x", "a", "1"}, again{"Pod", "x", "a", "2"}, other{"Pod", "y", "a", "1"};
  for (const char* version : {"1", "2"})
    for (const ObjectRef& object : {a, again, other})
      plan.add(object, Ask{.pod = object, .against = version});
  ASSERT_EQ(plan.objects.size(), 3u);
  for (const ObjectSteps& object : plan.objects) EXPECT_EQ(object.steps.size(), 2u);
  EXPECT_TRUE(plan.has_steps(again));
  EXPECT_FALSE(plan.has_steps({"Node", "x", "a", "1"}));
}

TEST(Plan, OneThatWasFilledByHandIsAddedToAllTheSame) {
  const ObjectRef a{"Node", "", "a", "1"}, b{"Node", "", "b", "2"};
  Plan plan;
  plan.objects = {{a, {}}, {b, {}}};
  plan.add(a, Ask{.pod = a, .against = "1"});
  EXPECT_EQ(plan.objects.size(), 2u);
  Plan copy = plan;
  copy.add(b, Ask{.pod = b, .against = "1"});
  EXPECT_EQ(copy.objects.size(), 2u);
  EXPECT_NE(copy, plan);
}

TEST(PlanDeathTest, AStepThatIsPlannedTwiceIsABugAndSaysWhatToReport) {
  const ObjectRef a{"Pod", "x", "a", "1"};
  Plan plan;
  plan.add(a, Ask{.pod = a, .against = "1"});
  EXPECT_DEATH(
      plan.add(a, Ask{.pod = a, .against = "1"}),
      "berth has a bug and ends: planned twice for Pod/x/a: evict Pod/x/a 1 .*report this line");
}

TEST(Plan, ItsHashIsThatOfItsSteps) {
  const ObjectRef a{"Node", "", "a", "1"};
  const auto plan_of = [&](const std::string& body, const std::string& reason) {
    Plan plan;
    plan.add(a, Guard{a, "is it empty", nullptr});
    plan.add(a, Write{.object = a, .body = body, .reason = reason});
    return plan;
  };
  Plan plan = plan_of("[1]", "cordon");
  const std::size_t hash = hash_steps(plan);
  EXPECT_NE(hash, 0u);
  EXPECT_EQ(hash_steps(plan_of("[1]", "cordon")), hash);
  EXPECT_NE(hash_steps(plan_of("[2]", "cordon")), hash);
  EXPECT_NE(hash_steps(plan_of("[1]", "uncordon")), hash);
  for (const ObjectRef& object : {ObjectRef{"Pod", "", "a", "1"}, ObjectRef{"Node", "x", "a", "1"},
                                  ObjectRef{"Node", "", "b", "1"}}) {
    Plan other = plan;
    for (Step& step : other.objects[0].steps)
      if (auto* write = std::get_if<Write>(&step)) write->object = object;
    EXPECT_NE(hash_steps(other), hash) << object.str();
  }
  Plan deletes = plan;
  std::get<Write>(deletes.objects[0].steps[1]).verb = Verb::kDelete;
  EXPECT_NE(hash_steps(deletes), hash);
  plan.statuses.push_back({.object = a, .body = "{}", .differs = true});
  plan.events.push_back({.regarding = a, .reason = "Cordoned"});
  EXPECT_EQ(hash_steps(plan), hash) << "statuses carry times, and events count themselves";
  EXPECT_EQ(hash_steps({}), 0u);
}

TEST(Plan, AStatusThatStandsAlreadyIsNoWork) {
  Plan plan;
  plan.statuses.push_back({.object = {"MIGLayout", "", "x", ""}, .body = "{}", .differs = false});
  EXPECT_TRUE(plan.empty());
  plan.statuses[0].differs = true;
  EXPECT_FALSE(plan.empty());
}

TEST(Plan, IsPrintedWithAllThatItTells) {
  const ObjectRef a{"Node", "", "a", "1"}, layout{"MIGLayout", "", "x", "2"};
  Plan plan;
  plan.add(a, Ask{.pod = {"Pod", "team", "p", "3"}, .against = "1"});
  plan.add(a, Guard{a, "is it empty", nullptr});
  plan.add(a, Write{.verb = Verb::kDelete, .object = a, .reason = "gone"});
  plan.statuses.push_back({.object = layout, .body = "{}", .differs = true});
  plan.statuses[0].events.push_back(
      {.regarding = layout, .warning = true, .reason = "Failed", .note = "n3 failed"});
  plan.statuses.push_back({.object = a, .body = "same", .differs = false});
  plan.events.push_back({.regarding = a, .reason = "Cordoned", .note = "for x"});
  plan.requeue_in(seconds(2));
  EXPECT_EQ(print(plan),
            "ask: may Pod/team/p be evicted\n"
            "guard Node/a: is it empty\n"
            "delete Node/a: gone\n"
            "status MIGLayout/x\n    {}\n"
            "event Warning MIGLayout/x Failed: n3 failed\n"
            "event Normal Node/a Cordoned: for x\n"
            "requeue in 2000ms\n");
}

TEST(Answers, AWritesQuestionIsOfItsVerbItsObjectAndItsManager) {
  const ObjectRef a{"Node", "", "a", "1"}, b{"Node", "", "b", "2"};
  const Write write{.verb = Verb::kMergePatch, .object = a, .field_manager = "mig"};
  Write other = write;
  EXPECT_EQ(question(write), question(other));
  other.reason = "another";
  EXPECT_EQ(question(write), question(other)) << "whatever it is for";
  for (const Write& different :
       {Write{.verb = Verb::kJsonPatch, .object = a, .field_manager = "mig"},
        Write{.verb = Verb::kMergePatch, .object = b, .field_manager = "mig"},
        Write{.verb = Verb::kMergePatch, .object = a, .field_manager = "policy"}})
    EXPECT_NE(question(write), question(different));
  EXPECT_NE(question(Guard{a, "is it empty", nullptr}), question(Guard{b, "is it empty", nullptr}));
  EXPECT_NE(question(Guard{a, "is it empty", nullptr}), question(Guard{a, "is it full", nullptr}));
}

TEST(Plan, RequeueKeepsTheEarliest) {
  Plan plan;
  plan.requeue_in(seconds(5));
  plan.requeue_in(seconds(30));
  plan.requeue_in(seconds(2));
  EXPECT_EQ(plan.requeue_after, seconds(2));
}

TEST(Answers, AnEvictionAndItsDryRunAnswerOneQuestion) {
  ObjectRef pod{"Pod", "team-a", "p", "u1"};
  EXPECT_EQ(question(Ask{.pod = pod}), question(Write{.verb = Verb::kEvict, .object = pod}));
  ObjectRef reborn{"Pod", "team-a", "p", "u2"};
  EXPECT_NE(question(Ask{.pod = pod}), question(Ask{.pod = reborn}));
}

TEST(Answers, AnAnswerCountsUntilItIsOld) {
  Answers answers;
  answers.put("q", {.yes = true, .at = Time(seconds(100))});
  EXPECT_NE(answers.find("q", Time(seconds(130)), seconds(30)), nullptr);
  EXPECT_EQ(answers.find("q", Time(seconds(131)), seconds(30)), nullptr);
  EXPECT_EQ(answers.find("other", Time(seconds(100)), seconds(30)), nullptr);
}

TEST(Conditions, TheTransitionTimeMovesOnlyWithTheStatus) {
  std::vector<Condition> standing = {
      {.type = "Ready", .status = "False", .last_transition_time = Time(seconds(7))}};
  auto same = merge_conditions(standing, {{.type = "Ready", .status = "False", .reason = "New"}},
                               Time(seconds(99)));
  EXPECT_EQ(same[0].last_transition_time, Time(seconds(7)));
  auto moved = merge_conditions(standing, {{.type = "Ready", .status = "True"}},
                                Time(std::chrono::milliseconds(99'500)));
  EXPECT_EQ(moved[0].last_transition_time, Time(seconds(99)));
  EXPECT_EQ(merge_conditions({}, {{.type = "Ready", .status = "True"}}, Time(seconds(9)))[0]
                .last_transition_time,
            Time(seconds(9)));
}

TEST(Conditions, WhatFollowsTheStepOfANodeIsNoNewVerdict) {
  const Condition standing{
      .type = "Ready", .status = "False", .reason = "Settling", .message = "1 of 8"};
  Condition moved = standing;
  moved.message = "2 of 8";
  moved.reason = "AgentPending";
  EXPECT_TRUE(same_verdicts({standing}, {moved}));
  EXPECT_FALSE(same_verdicts({standing}, {}));
  Condition done = standing;
  done.status = "True";
  EXPECT_FALSE(same_verdicts({standing}, {done}));
  Condition of_an_edit = standing;
  of_an_edit.observed_generation = 2;
  EXPECT_FALSE(same_verdicts({standing}, {of_an_edit}));
}

TEST(Conditions, AnotherReasonToBeStalledIsANewVerdict) {
  const Condition standing{.type = "Stalled", .status = "True", .reason = "NodeFailed"};
  Condition other = standing;
  other.message = "another node";
  EXPECT_TRUE(same_verdicts({standing}, {other}));
  other.reason = "Contested";
  EXPECT_FALSE(same_verdicts({standing}, {other}));
}

TEST(Conditions, WhatIsCutStandsBeforeTheAdvice) {
  EXPECT_EQ(cut_before_advice("aaaa; do b", 10), "aaaa; do b");
  EXPECT_EQ(cut_before_advice("aaaaaaaaaa; do b", 12), "aaa…; do b");
  EXPECT_EQ(cut_before_advice("first; aaaaaaaaaa; do b", 12), "fir…; do b");
  EXPECT_EQ(cut_before_advice("a; a list longer than half", 12), "a; a list…");
  EXPECT_EQ(cut_before_advice("no advice at all", 12), "no advice…");
}

TEST(Conditions, TruncationKeepsWholeCharacters) {
  EXPECT_EQ(cut("short", 10), "short");
  EXPECT_EQ(cut("aaaaéééé", 9), "aaaaé…");
  EXPECT_LE(cut(std::string(400, 'x'), 256).size(), 256u);
}

}  // namespace
}  // namespace berth
