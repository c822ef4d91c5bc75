// SPDX-License-Identifier: Apache-2.0
// The priority of a new pod, and which pods are refused.
#include <gtest/gtest.h>

#include <string>

#include "tests/sim/api_server_calls.h"

namespace berth::sim {
namespace {

constexpr char kClasses[] = "/apis/scheduling.k8s.io/v1/priorityclasses";

struct PriorityAdmission : testing::Test, ServerCalls {
  void add_class(const std::string& name, const std::string& more) {
    const ApiReply reply =
        post(kClasses, R"({"metadata":{"name":")" + name + R"("},)" + more + "}");
    ASSERT_EQ(reply.code, 201) << reply.body;
  }
  ApiReply add_pod(const std::string& spec) {
    return post(kPods, R"({"metadata":{"generateName":"p-"},"spec":{"containers":[
      {"name":"c","image":"i"}])" +
                           spec + "}}");
  }
};

TEST_F(PriorityAdmission, APodHasThePriorityOfItsClass) {
  add_class("high", R"("value":1000,"preemptionPolicy":"Never")");
  const ApiReply high = add_pod(R"(,"priorityClassName":"high")");
  EXPECT_NE(high.body.find(R"("priority":1000)"), std::string::npos) << high.body;
  EXPECT_EQ(member(high.body, "preemptionPolicy"), "Never");
  const ApiReply none = add_pod("");
  EXPECT_NE(none.body.find(R"("priority":0)"), std::string::npos) << none.body;
  EXPECT_EQ(member(none.body, "preemptionPolicy"), "PreemptLowerPriority");
  const ApiReply systems = add_pod(R"(,"priorityClassName":"system-node-critical")");
  EXPECT_NE(systems.body.find(R"("priority":2000001000)"), std::string::npos) << systems.body;
}

TEST_F(PriorityAdmission, WithoutAClassItHasTheDefaultOnes) {
  add_class("usual", R"("value":10,"globalDefault":true)");
  const ApiReply reply = add_pod("");
  EXPECT_EQ(member(reply.body, "priorityClassName"), "usual");
  EXPECT_NE(reply.body.find(R"("priority":10)"), std::string::npos) << reply.body;
  const ApiReply second =
      post(kClasses, R"({"metadata":{"name":"other"},"value":1,"globalDefault":true})");
  EXPECT_EQ(second.code, 403);
  EXPECT_NE(second.body.find("PriorityClass usual is already marked as default"),
            std::string::npos);
  EXPECT_EQ(merge_patch(std::string(kClasses) + "/usual", R"({"description":"still"})").code, 200);
}

TEST_F(PriorityAdmission, WhoNamesNoClassOrStatesAnotherPriorityIsRefused) {
  const ApiReply unknown = add_pod(R"(,"priorityClassName":"nobody")");
  EXPECT_EQ(unknown.code, 403);
  EXPECT_NE(unknown.body.find("is forbidden: no PriorityClass with name nobody was found"),
            std::string::npos);
  const ApiReply stated = add_pod(R"(,"priority":7)");
  EXPECT_EQ(stated.code, 403);
  EXPECT_NE(stated.body.find("the integer value of priority (7) must not be provided in pod spec"),
            std::string::npos);
  EXPECT_EQ(add_pod(R"(,"preemptionPolicy":"Never")").code, 403);
  EXPECT_EQ(add_pod(R"(,"priority":0)").code, 201);
}

TEST_F(PriorityAdmission, AnUpdateThatLeavesThePriorityOutKeepsIt) {
  ASSERT_EQ(post(kPods, R"({"metadata":{"name":"p"},"spec":{"priorityClassName":
    "system-cluster-critical","containers":[{"name":"c","image":"i"}]}})")
                .code,
            201);
  const std::string pod = std::string(kPods) + "/p";
  EXPECT_EQ(merge_patch(pod, R"({"spec":{"priority":null}})").code, 200);
  EXPECT_NE(get(pod).body.find(R"("priority":2000000000)"), std::string::npos);
  EXPECT_EQ(merge_patch(pod, R"({"spec":{"priority":5}})").code, 422);
}

TEST_F(PriorityAdmission, TheServersOwnClassesStay) {
  const std::string system = std::string(kClasses) + "/system-node-critical";
  EXPECT_EQ(get(system).code, 200);
  EXPECT_EQ(remove(system).code, 403);
  EXPECT_EQ(post(kClasses, R"({"metadata":{"name":"system-mine"},"value":1})").code, 422);
}

}  // namespace
}  // namespace berth::sim
