// SPDX-License-Identifier: Apache-2.0
// The chart's policy for queues, as the simulation installs it: what other clients than berth may
// do to pending workloads.
#include "controller/sim/server/queue_policy.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tests/sim/api_server_calls.h"

namespace berth::sim {
namespace {

constexpr char kTeamPods[] = "/api/v1/namespaces/team/pods";
constexpr char kTeamPod[] = "/api/v1/namespaces/team/pods/p";
constexpr char kJobs[] = "/apis/batch/v1/namespaces/team/jobs";
constexpr char kJob[] = "/apis/batch/v1/namespaces/team/jobs/train";
constexpr char kMerge[] = "application/merge-patch+json";

struct QueuePolicyTest : testing::Test, ServerCalls {
  QueuePolicyTest() {
    post("/api/v1/namespaces",
         R"({"metadata":{"name":"team","labels":{"gpu.berth.dev/managed":"true"}}})");
    server.policy = [policy = QueuePolicy(store)](const auto& user, const auto& key,
                                                  const auto* live, const auto& next) {
      policy.judge(user, key, live, next);
    };
  }
  int add_pod(const std::string& metadata, const std::string& spec, const std::string& user) {
    return send("POST", kTeamPods,
                R"({"metadata":{"name":"p")" + metadata +
                    R"(},"spec":{"containers":[{"name":"c","image":"i"}])" + spec + "}}",
                "application/json", user)
        .code;
  }
  void add_gated() {
    ASSERT_EQ(add_pod("", R"(,"schedulingGates":[{"name":"gpu.berth.dev/queue"}])", "person"), 201);
  }
  void add_job(const std::string& suspend) {
    ASSERT_EQ(send("POST", kJobs,
                   R"({"metadata":{"name":"train","labels":{"gpu.berth.dev/queue":"q"}},
      "spec":{"suspend":)" +
                       suspend + R"(,"template":{"spec":{"restartPolicy":"Never",
      "containers":[{"name":"c","image":"i"}]}}}})",
                   "application/json", "person")
                  .code,
              201);
  }
  int patch(const char* object, const std::string& change, const std::string& user) {
    return send("PATCH", object, change, kMerge, user).code;
  }
};

TEST_F(QueuePolicyTest, OnlyBerthTakesTheGateAway) {
  add_gated();
  EXPECT_EQ(patch(kTeamPod, R"({"spec":{"schedulingGates":null}})", "person"), 403);
  EXPECT_EQ(patch(kTeamPod, R"({"metadata":{"labels":{"a":"b"}}})", "person"), 200);
  EXPECT_EQ(patch(kTeamPod, R"({"spec":{"schedulingGates":null}})", "berth-0"), 200);
}

TEST_F(QueuePolicyTest, OnlyTheQueueResumesAJobThatNamesIt) {
  add_job("true");
  EXPECT_EQ(patch(kJob, R"({"spec":{"suspend":false}})", "person"), 403);
  EXPECT_EQ(patch(kJob, R"({"spec":{"suspend":false}})", "berth-0"), 200);
  EXPECT_EQ(patch(kJob, R"({"spec":{"suspend":true}})", "person"), 200);
}

// Without the label no queue would hold it, so neither the resumption nor an earlier write may
// remove it.
TEST_F(QueuePolicyTest, AJobThatWaitsKeepsItsLabel) {
  add_job("true");
  constexpr char kBoth[] =
      R"({"metadata":{"labels":{"gpu.berth.dev/queue":null}},"spec":{"suspend":false}})";
  constexpr char kLabel[] = R"({"metadata":{"labels":{"gpu.berth.dev/queue":null}}})";
  EXPECT_EQ(patch(kJob, kBoth, "person"), 403);
  EXPECT_EQ(patch(kJob, kLabel, "person"), 403);
  EXPECT_EQ(patch(kJob, R"({"metadata":{"labels":{"gpu.berth.dev/queue":"other"}}})", "person"),
            200);
}

TEST_F(QueuePolicyTest, TheDeadlineOfAnAdmittedJobOnlyFalls) {
  add_job("false");
  patch(kJob, R"({"metadata":{"annotations":{"gpu.berth.dev/admitted":"{}"}}})", "berth-0");
  EXPECT_EQ(patch(kJob, R"({"spec":{"activeDeadlineSeconds":60}})", "person"), 200);
  EXPECT_EQ(patch(kJob, R"({"spec":{"activeDeadlineSeconds":61}})", "person"), 403);
  EXPECT_EQ(patch(kJob, R"({"spec":{"activeDeadlineSeconds":null}})", "person"), 403);
  EXPECT_EQ(patch(kJob, R"({"metadata":{"labels":{"gpu.berth.dev/queue":null}}})", "person"), 403);
  EXPECT_EQ(patch(kJob, R"({"spec":{"activeDeadlineSeconds":59}})", "person"), 200);
  EXPECT_EQ(patch(kJob, R"({"spec":{"activeDeadlineSeconds":61,"suspend":true}})", "person"), 200);
}

TEST_F(QueuePolicyTest, AJobOfAQueueDoesNotReplacePodsEarlier) {
  add_job("true");
  const auto set = [&](const char* policy) {
    return patch(kJob, std::string(R"({"spec":{"podReplacementPolicy":")") + policy + "\"}}",
                 "person");
  };
  EXPECT_EQ(set("TerminatingOrFailed"), 200) << "as it was made";
  EXPECT_EQ(set("Failed"), 200);
  EXPECT_EQ(set("TerminatingOrFailed"), 403);
  constexpr char kEarly[] = R"({"spec":{"podReplacementPolicy":"TerminatingOrFailed"}})";
  EXPECT_EQ(patch(kJob, kEarly, "berth-0"), 200) << "a pod of it can't leave a dead node";
  EXPECT_EQ(patch(kJob, R"({"metadata":{"labels":{"a":"b"}}})", "person"), 200) << "as it is now";
}

TEST_F(QueuePolicyTest, OnlyBerthWritesTheRecord) {
  add_job("true");
  constexpr char kRecord[] = R"({"metadata":{"annotations":{"gpu.berth.dev/admitted":"{}"}}})";
  constexpr char kInTemplate[] =
      R"({"spec":{"template":{"metadata":{"annotations":{"gpu.berth.dev/admitted":"{}"}}}}})";
  EXPECT_EQ(patch(kJob, kRecord, "person"), 403);
  EXPECT_EQ(patch(kJob, kInTemplate, "person"), 403);
  EXPECT_EQ(patch(kJob, kRecord, "berth-0"), 200);
  constexpr char kForged[] = R"(,"annotations":{"gpu.berth.dev/admitted":"{}"})";
  EXPECT_EQ(add_pod(kForged, "", "person"), 403);
}

TEST_F(QueuePolicyTest, OnlyBerthMarksAPodAsLost) {
  constexpr char kMark[] =
      R"({"metadata":{"annotations":{"gpu.berth.dev/on-dead-node-since":"2100-01-01T00:00:00Z"}}})";
  constexpr char kUnmark[] =
      R"({"metadata":{"annotations":{"gpu.berth.dev/on-dead-node-since":null}}})";
  constexpr char kForged[] =
      R"(,"annotations":{"gpu.berth.dev/on-dead-node-since":"2100-01-01T00:00:00Z"})";
  EXPECT_EQ(add_pod(kForged, "", "person"), 403);
  ASSERT_EQ(add_pod("", "", "person"), 201);
  EXPECT_EQ(patch(kTeamPod, kMark, "person"), 403);
  EXPECT_EQ(patch(kTeamPod, kMark, "berth-0"), 200);
  EXPECT_EQ(patch(kTeamPod, kUnmark, "person"), 403);
  EXPECT_EQ(patch(kTeamPod, R"({"metadata":{"labels":{"a":"b"}}})", "job-controller"), 200);
  EXPECT_EQ(patch(kTeamPod, kUnmark, "berth-0"), 200);
  add_job("true");
  EXPECT_EQ(patch(kJob, std::string(R"({"spec":{"template":)") + kMark + "}}", "person"), 403);
}

TEST_F(QueuePolicyTest, AJobsPodsInheritItsRecord) {
  const auto pod = [](const std::string& uid) {
    return R"(,"annotations":{"gpu.berth.dev/admitted":"{\"uid\":\"7\"}"},"ownerReferences":[
      {"apiVersion":"batch/v1","kind":"Job","name":"train","controller":true,"uid":")" +
           uid + R"("}])";
  };
  EXPECT_EQ(add_pod(pod("8"), "", "job-controller"), 403);
  EXPECT_EQ(add_pod(pod("7"), "", "person"), 403);
  EXPECT_EQ(add_pod(pod("7"), "", "job-controller"), 201);
}

TEST_F(QueuePolicyTest, TheParallelismOfAnAdmittedJobOnlyFalls) {
  add_job("false");
  EXPECT_EQ(patch(kJob, R"({"spec":{"parallelism":3}})", "person"), 200) << "nobody admitted it";
  patch(kJob, R"({"metadata":{"annotations":{"gpu.berth.dev/admitted":"{}"}}})", "berth-0");
  EXPECT_EQ(patch(kJob, R"({"spec":{"parallelism":4}})", "person"), 403);
  EXPECT_EQ(patch(kJob, R"({"spec":{"parallelism":2}})", "person"), 200);
  EXPECT_EQ(patch(kJob, R"({"spec":{"parallelism":4,"suspend":true}})", "person"), 200);
}

TEST_F(QueuePolicyTest, APodOfAQueueNamesNoNode) {
  constexpr char kLabel[] = R"(,"labels":{"gpu.berth.dev/queue":"q"})";
  EXPECT_EQ(add_pod(kLabel, R"(,"nodeName":"n1")", "person"), 403);
  EXPECT_EQ(add_pod("", R"(,"nodeName":"n1")", "person"), 201) << "of no queue";
}

TEST_F(QueuePolicyTest, ElsewhereItHoldsNobody) {
  post("/api/v1/namespaces", R"({"metadata":{"name":"free"}})");
  EXPECT_EQ(send("POST", "/api/v1/namespaces/free/pods",
                 R"({"metadata":{"name":"p","annotations":{"gpu.berth.dev/admitted":"{}"}},
                     "spec":{"containers":[{"name":"c","image":"i"}]}})",
                 "application/json", "person")
                .code,
            201);
}

}  // namespace
}  // namespace berth::sim
