// SPDX-License-Identifier: Apache-2.0
// An executor on a transport that a test answers by hand, and steps for it.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "controller/runtime/executor.h"
#include "tests/runtime/world.h"

namespace berth {

inline constexpr char kPatchN1[] = "PATCH /api/v1/nodes/n1";
inline constexpr char kGetN1[] = "GET /api/v1/nodes/n1";
inline constexpr char kPods[] = "GET /api/v1/pods";
inline constexpr char kEvict[] = "POST /api/v1/namespaces/team/pods/p1/eviction";
inline constexpr char kEvents[] = "POST /apis/events.k8s.io/v1/namespaces/default/events";
inline constexpr char kStatus[] = "PATCH /apis/gpu.berth.dev/v1alpha1/miglayouts/a/status";
inline constexpr char kNode[] =
    R"({"kind":"Node","metadata":{"name":"n1","uid":"u1","resourceVersion":"42"}})";
inline constexpr char kBudgetSaysNo[] =
    R"({"kind":"Status","status":"Failure","reason":"TooManyRequests","code":429,"message":"Cannot evict",)"
    R"("details":{"causes":[{"reason":"DisruptionBudget","message":"budget b needs 1"}]}})";

inline ObjectRef node(const std::string& name = "n1") { return {"Node", "", name, "u1"}; }
inline ObjectRef pod() { return {"Pod", "team", "p1", "pu1"}; }
inline ObjectRef layout() { return {"MIGLayout", "", "a", "lu1"}; }
inline Write patch(const std::string& name = "n1") {
  return {.verb = Verb::kJsonPatch,
          .object = node(name),
          .body = "[]",
          .field_manager = "berth-mig",
          .reason = "test"};
}
inline Write evict() { return {.verb = Verb::kEvict, .object = pod(), .grace_period_seconds = 5}; }
inline StatusUpdate status(bool urgent = false) {
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
    const Answer* answer =
        answers_.find(question(step), world_.loop.wall_now(), std::chrono::seconds(30));
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
  std::chrono::nanoseconds time_left_ = std::chrono::seconds(8);
  Answers answers_;
  std::vector<std::string> released_;
  std::vector<std::string> wrote_;
  WriteBarrier barrier_{
      world_.loop, WriteBarrier::Hooks{
                       .cached =
                           [](const ObjectRef& object) {
                             return CachedVersion{object.uid, "1", false};
                           },
                       .refetch = [](const ObjectRef&) {},
                       .released = [this](const std::string& key) { released_.push_back(key); }}};
  Events events_{world_.client, world_.log, Events::Options{.instance = "me"}};
  Executor executor_{
      Executor::Parts{world_.client, world_.log, world_.metrics, answers_, barrier_, events_,
                      [this] { return time_left_; },
                      [this](const Origin& origin, const Write& write) {
                        wrote_.push_back(write.object.str() + ", for " + origin.cause);
                      }},
      Executor::Options{}};
  std::string seen_;
};

}  // namespace berth
