// SPDX-License-Identifier: Apache-2.0
// What decode keeps of a Job and of its template.
#include <gtest/gtest.h>

#include <string>

#include "tests/apis/wire_objects.h"

namespace berth::test {
namespace {

constexpr char kJob[] =
    R"({"metadata":{"name":"train","namespace":"vision","annotations":{"kubectl.kubernetes.io/last-applied-configuration":"{}",
"gpu.berth.dev/gang":"false"}},"spec":{"suspend":true,"backoffLimit":0,"parallelism":4,"completions":8,"completionMode":"Indexed",
"activeDeadlineSeconds":3600,"template":{"metadata":{"labels":{"app":"train"}},"spec":{"priorityClassName":"batch","nodeName":"",
"schedulingGates":[{"name":"gpu.berth.dev/queue"}],"nodeSelector":{"tier":"gold"},"affinity":{"nodeAffinity":{}},
"containers":[{"resources":{"requests":{"cpu":"2"},"limits":{"nvidia.com/gpu":"1"}}},{"resources":{"requests":{"nvidia.com/gpu":"1"}}}],
"volumes":[{"name":"data","persistentVolumeClaim":{"claimName":"data"}}]}}},
"status":{"active":3,"ready":2,"terminating":1,"succeeded":5,"failed":2,"uncountedTerminatedPods":{"succeeded":["a"],"failed":["b","c"]},"startTime":"2026-11-21T14:23:00Z",
"conditions":[{"type":"Complete","status":"False"},{"type":"Suspended","status":"True"}]}})";

TEST(DecodeJob, SaysSinceWhenItIsFinished) {
  const Result<Job> job = decode<Job>(
      R"({"metadata":{"name":"a","namespace":"b"},"status":{"conditions":[)"
      R"({"type":"Suspended","status":"False","lastTransitionTime":"2026-11-21T14:00:00Z"},)"
      R"({"type":"Complete","status":"True","lastTransitionTime":"2026-11-21T15:00:00Z"}]}})");
  ASSERT_TRUE(job.has_value()) << describe(job.error());
  EXPECT_TRUE(job->finished);
  EXPECT_EQ(job->finished_at, *parse_time("2026-11-21T15:00:00Z"));
  EXPECT_FALSE(decode<Job>(kJob)->finished_at);
}

TEST(DecodeJob, SaysWhyItHasFailed) {
  const auto failure = [](const std::string& conditions) {
    return decode<Job>(R"({"status":{"conditions":[)" + conditions + "]}}").value().failure.str();
  };
  EXPECT_EQ(failure(R"({"type":"Failed","status":"True","message":"exit code 9"})"), "exit code 9");
  EXPECT_EQ(failure(R"({"type":"FailureTarget","status":"True","message":"x"})"), "");
  EXPECT_EQ(failure(R"({"type":"Failed","status":"False","message":"x"})"), "");
  EXPECT_EQ(failure(R"({"type":"Complete","status":"True","message":null})"), "");
  EXPECT_EQ(
      failure(R"({"type":"Failed","status":"True","message":")" + std::string(4000, 'x') + R"("})")
          .size(),
      300u);
}

TEST(DecodeJob, KeepsWhatDecisionsNeed) {
  const Result<Job> job = decode<Job>(kJob);
  ASSERT_TRUE(job.has_value()) << describe(job.error());
  EXPECT_EQ(job->meta.annotations, (StringMap{{"gpu.berth.dev/gang", "false"}}))
      << "kubectl's copy of the object is dropped";
  EXPECT_TRUE(job->suspended);
  EXPECT_TRUE(job->indexed);
  EXPECT_EQ(job->backoff_limit, 0);
  EXPECT_EQ(job->parallelism, 4);
  EXPECT_EQ(job->completions, 8);
  EXPECT_EQ(job->active_deadline_seconds, 3600);
  EXPECT_EQ(job->active, 3);
  EXPECT_EQ(job->ready, 2);
  EXPECT_EQ(job->terminating, 1);
  EXPECT_EQ(job->succeeded, 5);
  EXPECT_EQ(job->failed, 2);
  EXPECT_EQ(job->uncounted, 3);
  ASSERT_TRUE(job->start_time.has_value());
  EXPECT_EQ(format_time(*job->start_time), "2026-11-21T14:23:00Z");
  EXPECT_TRUE(job->has_been_suspended);
}

TEST(DecodeJob, TheTemplatesShapeIsItsPods) {
  const Result<Job> job = decode<Job>(kJob);
  ASSERT_TRUE(job.has_value());
  EXPECT_EQ(job->priority_class_name, "batch");
  const Result<Pod> pod = decode<Pod>(
      R"({"spec":{"schedulingGates":[{"name":"gpu.berth.dev/queue"}],"nodeSelector":{"tier":"gold"},"affinity":{"nodeAffinity":{}},
"containers":[{"resources":{"requests":{"cpu":"2","nvidia.com/gpu":"2"}}}],"volumes":[{"name":"data","persistentVolumeClaim":{}}]}})");
  EXPECT_EQ(job->pod_shape, pod->shape) << "a limit of a template is a request of its pods";
  EXPECT_EQ(job->pod_shape->unmodelled, Unmodelled::kVolumes);
}

TEST(DecodeJob, WhatIsNotSaidIsTheServersDefault) {
  for (const char* body :
       {"{}", R"({"spec":{"completions":null,"activeDeadlineSeconds":null,"podFailurePolicy":null,
        "template":null},"status":{"startTime":null,"conditions":null}})"}) {
    const Result<Job> job = decode<Job>(body);
    ASSERT_TRUE(job.has_value()) << describe(job.error());
    EXPECT_EQ(*job, Job()) << body;
    EXPECT_EQ(job->backoff_limit, 6);
    EXPECT_FALSE(job->completions.has_value());
  }
}

TEST(DecodeJob, RulesForDisruptionsCountUnlessAnExitCodeDecidesFirst) {
  const auto ignores = [](const std::string& rules) {
    return decode<Job>(R"({"spec":{"podFailurePolicy":{"rules":[)" + rules + "]}}}")
        ->ignores_disruptions;
  };
  const std::string ignore =
      R"({"action":"Ignore","onPodConditions":[{"type":"Other"},{"type":"DisruptionTarget"}]})";
  EXPECT_TRUE(ignores(ignore)) << "status True is the default";
  EXPECT_FALSE(ignores(
      R"({"action":"Ignore","onPodConditions":[{"type":"DisruptionTarget","status":"False"}]})"));
  EXPECT_FALSE(ignores(R"({"action":"Count","onPodConditions":[{"type":"DisruptionTarget"}]})"));
  EXPECT_FALSE(ignores(R"({"action":"FailJob","onExitCodes":{}},)" + ignore));
  EXPECT_TRUE(ignores(R"({"onExitCodes":{},"action":"Count"},)" + ignore));
  EXPECT_TRUE(ignores(ignore + R"(,{"action":"FailJob","onExitCodes":{}})"));
}

TEST(DecodeJob, NamesThePathOfAWrongType) {
  EXPECT_EQ(decode<Job>(R"({"spec":{"podFailurePolicy":{"rules":7}}})").error().where,
            "spec.podFailurePolicy.rules");
  EXPECT_EQ(
      decode<Job>(
          R"({"spec":{"template":{"spec":{"containers":[{"resources":{"requests":{"cpu":{}}}}]}}}})")
          .error()
          .where,
      "spec.template.spec.containers[0].resources.requests.cpu");
  EXPECT_EQ(decode<Job>(R"({"spec":{"completions":"x"}})").error().where, "spec.completions");
}

// Like the API server, which sets requests from limits only in pods.
TEST(DecodeJob, LimitsOfATemplateAreRequestsWhereThereAreNone) {
  std::string text = R"({"metadata":{"name":"train"},"spec":{"template":{"spec":{
    "containers":[{"resources":{"limits":{"nvidia.com/gpu":"4","cpu":"8"},"requests":{"cpu":"2"}}},
                  {"resources":{"limits":{"nvidia.com/gpu":"1"}}}],
    "initContainers":[{"resources":{"limits":{"memory":"1Gi"}}}]}}}})";
  const Result<Job> job = decode_object<Job>(text);
  ASSERT_TRUE(job.has_value()) << describe(job.error());
  const ResourceList& requests = job->pod_shape->requests;
  EXPECT_EQ(requests.get("nvidia.com/gpu"), Quantity::whole(5));
  EXPECT_EQ(requests.get("cpu"), Quantity::whole(2));
  EXPECT_EQ(requests.get("memory"), Quantity::whole(1 << 30));
}

}  // namespace
}  // namespace berth::test
