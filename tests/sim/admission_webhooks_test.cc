// SPDX-License-Identifier: Apache-2.0
// The API server's calls of an installed webhook: which creations, when, and what happens if there
// is no answer.
#include "controller/sim/server/admission_webhooks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "apis/base/base64.h"
#include "controller/sim/world/object_fields.h"
#include "tests/sim/kube_world.h"

namespace berth::sim {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using Policy = WebhookRules::FailurePolicy;

constexpr char kPatch[] = R"([{"op":"add","path":"/metadata/labels","value":{"seen":"yes"}}])";

struct AdmissionWebhooksTest : testing::Test, KubeWorld {
  void install(WebhookRules rules = {}) {
    merge("namespaces", "team", R"({"metadata":{"labels":{"gpu.berth.dev/managed":"true"}}})");
    webhooks = std::make_unique<AdmissionWebhooks>(simulation.server(), simulation.loop(),
                                                   simulation.clock(), Random(1), rules);
    webhooks->hooks.ask = [this](const std::string& path, const std::string& review,
                                 const std::function<void(WebhookAnswer)>& answer) {
      asked.push_back(path);
      reviews.push_back(json::parse(review)["request"]);
      if (answers) answer({200, reply(path, reviews.back()["uid"])});
    };
    webhooks->hooks.on_review = [this](const std::string&, const StoreKey&) {
      return std::exchange(fault, ReviewFault{});
    };
    webhooks->hooks.on_passed = [this](const Passage& passage) { passages.push_back(passage); };
  }
  std::string reply(const std::string& path, const json& uid) const {
    json response = {{"uid", uid}, {"allowed", path == "/mutate" || !denies}};
    if (path == "/mutate" && !patch.empty()) {
      response["patchType"] = "JSONPatch";
      response["patch"] = encode_base64(patch);
    }
    if (denies)
      response["status"] = {{"code", 403}, {"reason", "Forbidden"}, {"message", "no such pool"}};
    return json{{"response", response}}.dump();
  }
  void submit(const std::string& name, const std::string& resource = "nvidia.com/gpu") {
    json pod = {{"metadata", {{"name", name}, {"namespace", "team"}}}};
    pod["spec"]["containers"] = {
        {{"name", "main"}, {"image", "train"}, {"resources", {{"limits", {{resource, "1"}}}}}}};
    user.submit("pods", pod, [this](const WriteReply& told) {
      replies.push_back(std::to_string(told.code) + " " + text_at(*told.body, {"message"}));
    });
  }

  std::unique_ptr<AdmissionWebhooks> webhooks;
  bool answers = true, denies = false;
  std::string patch = kPatch;
  ReviewFault fault;  // for the next review
  std::vector<std::string> asked, replies;
  std::vector<json> reviews;
  std::vector<Passage> passages;
};

TEST_F(AdmissionWebhooksTest, ACreationIsHeldUntilBothHaveAnswered) {
  install();
  submit("a");
  EXPECT_THAT(replies, IsEmpty());
  EXPECT_FALSE(exists("pods", "a"));
  run_for(1s);
  EXPECT_THAT(asked, ElementsAre("/mutate", "/validate"));
  EXPECT_THAT(replies, ElementsAre("201 "));
  EXPECT_EQ(at("pods", "a", "/metadata/labels/seen"), "yes");
  EXPECT_EQ(reviews[0]["operation"], "CREATE");
  EXPECT_EQ(reviews[0]["object"]["spec"]["priority"], 0) << "what every cluster adds is there";
  EXPECT_EQ(reviews[1]["object"]["metadata"]["labels"]["seen"], "yes");
  ASSERT_THAT(passages, SizeIs(1));
  EXPECT_TRUE(passages[0].reviewed);
}

TEST_F(AdmissionWebhooksTest, OfOthersNothingIsAsked) {
  install();
  submit("cpu", "cpu");
  EXPECT_TRUE(exists("pods", "cpu")) << "at once";
  merge("namespaces", "team", R"({"metadata":{"labels":{"gpu.berth.dev/managed":"no"}}})");
  submit("unmanaged");
  EXPECT_TRUE(exists("pods", "unmanaged"));
  EXPECT_THAT(asked, IsEmpty());
}

TEST_F(AdmissionWebhooksTest, AnAnswerThatComesTooLateIsWithoutEffect) {
  install();
  fault.delay = 4s;
  submit("a");
  run_for(10s);
  EXPECT_THAT(replies, ElementsAre(EndsWith("context deadline exceeded")));
  EXPECT_THAT(
      replies,
      ElementsAre(HasSubstr(R"(500 Internal error occurred: failed calling webhook "pods.gpu.)")));
  EXPECT_FALSE(exists("pods", "a"));
  EXPECT_THAT(asked, ElementsAre("/mutate"));
}

TEST_F(AdmissionWebhooksTest, WhereFailuresAreIgnoredItGoesOnUnreviewed) {
  install({.failure_policy = Policy::kIgnore});
  fault.unreachable = true;
  submit("a");
  run_for(1s);
  EXPECT_EQ(at("pods", "a", "/metadata/labels/seen"), "");
  EXPECT_THAT(asked, ElementsAre("/validate"));
  ASSERT_THAT(passages, SizeIs(1));
  EXPECT_FALSE(passages[0].reviewed);
}

TEST_F(AdmissionWebhooksTest, WhatIsDeniedDoesNotExist) {
  install({.failure_policy = Policy::kIgnore});
  denies = true;
  submit("a");
  run_for(1s);
  EXPECT_THAT(
      replies,
      ElementsAre(
          R"(403 admission webhook "pods.gpu.berth.dev" denied the request: no such pool)"));
  EXPECT_FALSE(exists("pods", "a"));
}

TEST_F(AdmissionWebhooksTest, APatchThatDoesNotApplyIsAnErrorWhateverThePolicy) {
  install({.failure_policy = Policy::kIgnore});
  patch = R"([{"op":"remove","path":"/spec/none"}])";
  submit("a");
  run_for(1s);
  EXPECT_THAT(replies, ElementsAre(testing::StartsWith("500 ")));
  EXPECT_FALSE(exists("pods", "a"));
}

TEST_F(AdmissionWebhooksTest, ItIsAskedAgainOnceWhereAnotherWebhookChangesTheObject) {
  install({.reinvoked = true});
  submit("a");
  run_for(1s);
  EXPECT_THAT(asked, ElementsAre("/mutate", "/mutate", "/validate"));
  EXPECT_EQ(reviews[1]["object"]["metadata"]["labels"]["seen"], "yes");
}

TEST_F(AdmissionWebhooksTest, ACreationThatIsSentAgainFindsItsFirst) {
  install();
  fault.sent_again = true;
  submit("a");
  run_for(1s);
  EXPECT_THAT(replies, ElementsAre(testing::StartsWith("409 ")));
  EXPECT_TRUE(exists("pods", "a"));
}

TEST_F(AdmissionWebhooksTest, AReplicaSetTriesAgainAndMakesNoMoreThanItsPods) {
  install();
  answers = false;
  create("replicasets", R"({"metadata":{"name":"web"},"spec":{"replicas":3,
    "selector":{"matchLabels":{"app":"web"}},"template":{"metadata":{"labels":{"app":"web"}},
    "spec":{"containers":[{"name":"main","image":"serve",
                           "resources":{"limits":{"nvidia.com/gpu":"1"}}}]}}}})");
  patch = "";
  run_for(10s);
  EXPECT_THAT(names("pods"), IsEmpty());
  EXPECT_GT(asked.size(), 3u);
  answers = true;
  run_for(10s);
  EXPECT_THAT(names("pods"), SizeIs(3));
}

}  // namespace
}  // namespace berth::sim
