// SPDX-License-Identifier: Apache-2.0
// Allowed changes of a pod while it is gated, and after.
#include <gtest/gtest.h>

#include <string>

#include "tests/sim/api_server_calls.h"

namespace berth::sim {
namespace {

constexpr char kSpec[] = R"("nodeSelector":{"tier":"lab"},"affinity":{"nodeAffinity":{
  "requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[
    {"matchExpressions":[{"key":"zone","operator":"In","values":["a","b"]}]}]}}})";

std::string terms(const std::string& list) {
  return R"({"spec":{"affinity":{"nodeAffinity":{
    "requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":)" +
         list + "}}}}}";
}

struct PodRules : testing::Test, ServerCalls {
  ApiReply add(const std::string& more) {
    return post(kPods,
                R"({"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i"}],)" +
                    more + "}}");
  }
  void add_gated() {
    ASSERT_EQ(
        add(R"("schedulingGates":[{"name":"a/x"},{"name":"a/y"}],)" + std::string(kSpec)).code,
        201);
  }
  // The refused fields, or "ok".
  std::string try_patch(const std::string& patch) {
    const ApiReply reply =
        send("PATCH", std::string(kPod) + "?dryRun=All", patch, "application/merge-patch+json");
    return reply.ok() ? "ok" : std::to_string(reply.code) + " " + member(reply.body, "field");
  }
};

TEST_F(PodRules, GatesOnlyGo) {
  add_gated();
  EXPECT_EQ(try_patch(R"({"spec":{"schedulingGates":[{"name":"a/y"}]}})"), "ok");
  EXPECT_EQ(try_patch(R"({"spec":{"schedulingGates":null}})"), "ok");
  EXPECT_EQ(try_patch(R"({"spec":{"schedulingGates":[{"name":"a/y"},{"name":"a/z"}]}})"),
            "422 spec.schedulingGates[1].name");
  EXPECT_EQ(try_patch(R"({"spec":{"schedulingGates":[{"name":"no spaces"}]}})"),
            "422 spec.schedulingGates[0]");
  EXPECT_EQ(merge_patch(kPod, R"({"spec":{"schedulingGates":null}})").code, 200);
  EXPECT_EQ(try_patch(R"({"spec":{"schedulingGates":[{"name":"a/x"}]}})"),
            "422 spec.schedulingGates[0].name");
}

TEST_F(PodRules, WhereAGatedPodRunsIsOnlyNarrowed) {
  add_gated();
  EXPECT_EQ(try_patch(R"({"spec":{"nodeSelector":{"pool":"p"}}})"), "ok");
  EXPECT_EQ(try_patch(R"({"spec":{"nodeSelector":{"tier":"other"}}})"), "422 spec.nodeSelector");
  EXPECT_EQ(try_patch(R"({"spec":{"nodeSelector":null}})"), "422 spec.nodeSelector");
  const std::string old = R"({"key":"zone","operator":"In","values":["a","b"]})";
  const std::string at =
      "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms";
  EXPECT_EQ(try_patch(terms(R"([{"matchExpressions":[)" + old +
                            R"(,{"key":"pool","operator":"Exists"}],"matchFields":[
                            {"key":"metadata.name","operator":"In","values":["n1"]}]}])")),
            "ok");
  EXPECT_EQ(try_patch(terms(R"([{"matchExpressions":[{"key":"pool","operator":"Exists"},)" + old +
                            "]}]")),
            "422 " + at + "[0]")
      << "what was there stands first";
  EXPECT_EQ(try_patch(terms(R"([{"matchExpressions":[)" + old +
                            R"(]},{"matchExpressions":[{"key":"pool","operator":"Exists"}]}])")),
            "422 " + at)
      << "another term would select more nodes";
  EXPECT_EQ(try_patch(R"({"spec":{"affinity":null}})"), "422 " + at);
}

TEST_F(PodRules, OnceTheGateIsGoneNothingIsNarrowed) {
  add_gated();
  // Like berth's release: both in one patch.
  ASSERT_EQ(
      merge_patch(kPod, R"({"spec":{"schedulingGates":null,"nodeSelector":{"pool":"p"}}})").code,
      200);
  EXPECT_EQ(try_patch(R"({"spec":{"nodeSelector":{"node":"n1"}}})"), "422 spec");
  EXPECT_EQ(try_patch(R"({"spec":{"nodeName":"n1"}})"), "422 spec");
}

TEST_F(PodRules, TheConditionOfAGatedPodStandsUntilTheSchedulerWritesAnother) {
  add_gated();
  EXPECT_NE(get(kPod).body.find("SchedulingGated"), std::string::npos);
  merge_patch(kPod, R"({"spec":{"schedulingGates":null}})");
  EXPECT_NE(get(kPod).body.find("SchedulingGated"), std::string::npos);
}

TEST_F(PodRules, AGatedPodHasNoNode) {
  const ApiReply reply = add(R"("nodeName":"n1","schedulingGates":[{"name":"a/x"}])");
  EXPECT_EQ(reply.code, 422);
  EXPECT_EQ(member(reply.body, "field"), "spec.nodeName");
}

TEST_F(PodRules, TolerationsAreAddedAndAdmissionsOwnComeBack) {
  ASSERT_EQ(add(R"("tolerations":[{"key":"lab","operator":"Exists"}])").code, 201);
  EXPECT_EQ(try_patch(R"({"spec":{"tolerations":[{"key":"lab","operator":"Exists"},
                          {"key":"more","operator":"Exists"}]}})"),
            "ok");
  EXPECT_EQ(try_patch(R"({"spec":{"tolerations":[{"key":"more","operator":"Exists"}]}})"),
            "422 spec.tolerations");
}

}  // namespace
}  // namespace berth::sim
