// SPDX-License-Identifier: Apache-2.0
// Evictions against PodDisruptionBudgets, with the real server's texts: berth shows them to its
// users.
#include <gtest/gtest.h>

#include "tests/sim/api_server_calls.h"

namespace berth::sim {
namespace {

constexpr char kBudgets[] = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";

struct ApiServerEviction : testing::Test, ServerCalls {
  void SetUp() override {
    post(kPods, R"({"metadata":{"name":"p","labels":{"app":"x"}},"spec":{"nodeName":"n1",)"
                R"("containers":[{"name":"c","image":"i"}]}})");
    merge_patch(
        std::string(kPod) + "/status",
        R"({"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}})");
  }
  void add_budget(const std::string& name, const std::string& status) {
    post(kBudgets, R"({"metadata":{"name":")" + name +
                       R"("},"spec":{"minAvailable":1,"selector":{"matchLabels":{"app":"x"}}}})");
    merge_patch(kBudgets + ("/" + name + "/status"),
                R"({"status":{"observedGeneration":1,)" + status + "}}");
  }
  ApiReply evict(const std::string& options = "{}", const std::string& query = "") {
    return post(std::string(kPod) + "/eviction" + query,
                R"({"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"p",)"
                R"("namespace":"default"},"deleteOptions":)" +
                    options + "}");
  }
  std::string allowed() {
    return member(get(std::string(kBudgets) + "/b").body, "disruptionsAllowed");
  }
};

TEST_F(ApiServerEviction, WithoutABudgetThePodIsMarkedAndDeleted) {
  EXPECT_EQ(evict().code, 201);
  const std::string pod = get(kPod).body;
  EXPECT_NE(pod.find("EvictionByEvictionAPI"), std::string::npos);
  EXPECT_NE(pod.find("deletionTimestamp"), std::string::npos);
}

TEST_F(ApiServerEviction, AClosedBudgetSaysWhatItNeeds) {
  add_budget("b", R"("disruptionsAllowed":0,"currentHealthy":1,"desiredHealthy":1)");
  const ApiReply reply = evict();
  EXPECT_EQ(reply.code, 429);
  EXPECT_TRUE(reply.headers.empty()) << "no Retry-After";
  EXPECT_NE(reply.body.find(
                R"("message":"The disruption budget b needs 1 healthy pods and has 1 currently",)"
                R"("reason":"DisruptionBudget")"),
            std::string::npos)
      << reply.body;
}

TEST_F(ApiServerEviction, ABudgetItsControllerHasNotSeenAsksForTime) {
  add_budget("b", R"("observedGeneration":0,"disruptionsAllowed":1)");
  merge_patch(std::string(kBudgets) + "/b", R"({"spec":{"minAvailable":2}})");
  const ApiReply reply = evict();
  EXPECT_EQ(reply.code, 429);
  ASSERT_EQ(reply.headers.size(), 1u);
  EXPECT_EQ(reply.headers[0].second, "10");
}

TEST_F(ApiServerEviction, AnEvictionSpendsTheBudget) {
  add_budget("b", R"("disruptionsAllowed":1,"currentHealthy":2,"desiredHealthy":1)");
  EXPECT_EQ(evict("{}", "?dryRun=All").code, 201);
  EXPECT_EQ(allowed(), "1") << "a dry run spends nothing";
  EXPECT_EQ(evict().code, 201);
  EXPECT_EQ(allowed(), "0");
  EXPECT_NE(get(std::string(kBudgets) + "/b").body.find(R"("disruptedPods":{"p":)"),
            std::string::npos);
}

TEST_F(ApiServerEviction, AWrongUidIsFoundOutAfterTheBudgetIsSpent) {
  add_budget("b", R"("disruptionsAllowed":1,"currentHealthy":2,"desiredHealthy":1)");
  EXPECT_EQ(evict(R"({"preconditions":{"uid":"other"}})", "?dryRun=All").code, 409);
  EXPECT_EQ(allowed(), "1");
  EXPECT_EQ(evict(R"({"preconditions":{"uid":"other"}})").code, 409);
  EXPECT_EQ(allowed(), "0");
  EXPECT_EQ(get(kPod).body.find("deletionTimestamp"), std::string::npos);
  EXPECT_EQ(evict(R"({"preconditions":{"uid":"other"}})").code, 429) << "a closed budget first";
}

TEST_F(ApiServerEviction, TwoBudgetsAreAnErrorOfTheServer) {
  add_budget("b", R"("disruptionsAllowed":1)");
  add_budget("b2", R"("disruptionsAllowed":1)");
  const ApiReply reply = evict();
  EXPECT_EQ(reply.code, 500);
  EXPECT_EQ(member(reply.body, "message"),
            "This pod has more than one PodDisruptionBudget, which the eviction subresource does "
            "not support.");
  EXPECT_EQ(member(reply.body, "reason"), "");
}

TEST_F(ApiServerEviction, PodsThatNeverRanAreNotGuarded) {
  add_budget("b", R"("disruptionsAllowed":0,"currentHealthy":0,"desiredHealthy":1)");
  merge_patch(std::string(kPod) + "/status", R"({"status":{"phase":"Pending"}})");
  EXPECT_EQ(evict().code, 201);
}

TEST_F(ApiServerEviction, APodThatIsGoneIsNotFound) {
  remove(kPod, R"({"gracePeriodSeconds":0})");
  EXPECT_EQ(evict().code, 404);
}

}  // namespace
}  // namespace berth::sim
