// SPDX-License-Identifier: Apache-2.0
// The facts that the queue takes from nodes, pods and queues.
#include "controller/queue/index/facts_from.h"

#include <gtest/gtest.h>

#include "apis/base/names.h"
#include "controller/queue/facts/capped.h"
#include "controller/queue/record/admission_record.h"
#include "tests/queue/framework_pods.h"

namespace berth::queue::test {
namespace {

Node gpu_node(StringMap labels, ResourceList allocatable) {
  Node node;
  node.meta.name = "n";
  node.ready = true;
  node.meta.labels = std::move(labels);
  node.allocatable = std::move(allocatable);
  return node;
}

std::optional<PodFact> fact_of(const berth::Pod& pod) {
  return pod_fact(pod, "q", pod.shape->priority);
}

TEST(NodeFact, CountsCpuInThousandthsAndGpusInPieces) {
  Node node = gpu_node({{"nvidia.com/gpu.product", "NVIDIA-A100-SXM4-80GB"}},
                       {{"cpu", *Quantity::parse("63500m")},
                        {"memory", *Quantity::parse("1Ki")},
                        {"nvidia.com/gpu", Quantity::whole(8)}});
  const NodeFact fact = node_fact(node, "training");
  EXPECT_EQ(fact.offers, (Amounts{{"cpu", 63'500}, {"memory", 1024}, {"nvidia.com/gpu", 8}}));
  EXPECT_EQ(fact.gpu_weights, (Amounts{{"nvidia.com/gpu", kWholeGpu}}));
  EXPECT_TRUE(fact.in_service);
  node.unschedulable = true;
  EXPECT_FALSE(node_fact(node, "training").in_service);
}

berth::Pod gpu_pod() {
  berth::Pod pod;
  pod.meta.name = "p";
  pod.meta.namespace_ = "ns";
  pod.meta.uid = "uid";
  pod.shape.edit()->requests = {{"nvidia.com/gpu", Quantity::whole(1)}, {"zz", Quantity::whole(1)}};
  return pod;
}

TEST(PodFact, TellsWhichWorkloadItIsOf) {
  berth::Pod pod = gpu_pod();
  EXPECT_EQ(fact_of(pod)->workload, "Pod/ns/p");
  EXPECT_EQ(fact_of(pod)->requests, (Amounts{{"nvidia.com/gpu", 1}, {"pods", 1}, {"zz", 1}}));

  pod.meta.labels.set(names::kPodGroupLabel, "g");
  EXPECT_EQ(fact_of(pod)->workload, "Pod/ns/p") << "a group of unknown size goes pod by pod";
  pod.meta.annotations.set(names::kPodGroupSizeAnnotation, "4");
  EXPECT_EQ(fact_of(pod)->workload, "PodGroup/ns/g");
  EXPECT_EQ(fact_of(pod)->group_size, 4);
  EXPECT_FALSE(fact_of(pod)->fast);
  pod.meta.annotations.set(names::kPodGroupSizeAnnotation, "-4");
  EXPECT_EQ(fact_of(pod)->workload, "Pod/ns/p") << "what is no size is none";
  EXPECT_EQ(fact_of(pod)->group_size, 1);

  pod.meta.owner_references = {{.kind = "Job", .name = "j", .controller = true}};
  EXPECT_EQ(fact_of(pod)->workload, "Job/ns/j");
}

// The creator of a pod can write any owner.
TEST(PodFact, OfADaemonSetOrANodeCountsInItsQueueLikeAnyOther) {
  berth::Pod pod = gpu_pod();
  for (const char* kind : {"DaemonSet", "Node"}) {
    pod.meta.owner_references = {{.kind = kind, .name = "x", .controller = true}};
    EXPECT_EQ(pod_fact(pod, "q", 0)->workload, "Pod/ns/p") << kind;
    EXPECT_EQ(pod_fact(pod, "", 0)->workload, "") << "of no queue it takes room alone";
  }
  pod.meta.owner_references.clear();
  pod.meta.annotations.set(names::kMirrorAnnotation, "x");
  EXPECT_EQ(pod_fact(pod, "q", 0)->workload, "Pod/ns/p");
  EXPECT_EQ(pod_fact(pod, "", 0)->workload, "");
}

TEST(PodFact, OfAGangThatStartsFastTellsItsRole) {
  berth::Pod pod = leader_worker_pod("llm", 0, 1, 4);
  EXPECT_EQ(fact_of(pod)->workload, "PodGroup/ns/LeaderWorkerSet:llm:0");
  EXPECT_EQ(fact_of(pod)->group_size, 4);
  EXPECT_EQ(fact_of(pod)->role, "worker");
  EXPECT_EQ(fact_of(pod)->role_size, 0) << "which matters where it starts before all are there";
  pod.meta.annotations.set(names::kFastAdmissionAnnotation, "true");
  EXPECT_TRUE(fact_of(pod)->fast);
  EXPECT_EQ(fact_of(pod)->role, "worker");
  EXPECT_EQ(fact_of(pod)->role_size, 3);
}

// Without a queue, no queue releases it, and the other members do not wait for it.
TEST(PodFact, OfAGangIsOfNoWorkloadWithoutAQueue) {
  berth::Pod pod = leader_worker_pod("llm", 0, 0, 4);
  pod.node_name = "n";
  EXPECT_EQ(pod_fact(pod, "", 0)->workload, "");
  const AdmissionFact record{.uid = pod.meta.uid, .queue = "q", .pool = "*"};
  pod.meta.annotations.set(names::kAdmittedAnnotation, Text(encode_admission(record)));
  EXPECT_EQ(pod_fact(pod, "", 0)->workload, "PodGroup/ns/LeaderWorkerSet:llm:0")
      << "what was admitted goes on counting when its queue is gone";
}

// The Job of a gang's controller is no workload. The pods of an admitted Job are released by its
// template.
TEST(PodFact, OfAJobInAGangIsTheGangsUnlessItsJobWasAdmitted) {
  berth::Pod pod = job_set_pod("train", "workers", 0);
  pod.meta.annotations.set(names::kPodGroupSizeAnnotation, "2");
  EXPECT_EQ(fact_of(pod)->workload, "PodGroup/ns/JobSet:train");
  const AdmissionFact record{.uid = pod.meta.controller()->uid.str(), .queue = "q", .pool = "*"};
  pod.meta.annotations.set(names::kAdmittedAnnotation, Text(encode_admission(record)));
  EXPECT_EQ(fact_of(pod)->workload, "Job/ns/train-workers-0");
}

TEST(PodFact, TellsWhatThePodHolds) {
  berth::Pod pod = gpu_pod();
  EXPECT_EQ(fact_of(pod)->state, PodState::kReleased);
  pod.shape.edit()->scheduling_gates = {names::kQueueGate};
  EXPECT_EQ(fact_of(pod)->state, PodState::kWaiting);
  pod.shape.edit()->scheduling_gates.clear();
  pod.node_name = "n";
  EXPECT_EQ(fact_of(pod)->state, PodState::kBound);
  pod.meta.deletion_timestamp = Time();
  EXPECT_EQ(fact_of(pod)->state, PodState::kLeaving);
  pod.phase = PodPhase::kSucceeded;
  EXPECT_EQ(fact_of(pod), std::nullopt) << "by itself it is over";
  pod.phase = PodPhase::kFailed;
  EXPECT_EQ(fact_of(pod), std::nullopt);
}

TEST(PodFact, OfAGangIsKnownAfterItsEndUnlessAnotherTakesItsPlace) {
  berth::Pod pod = gpu_pod();
  pod.node_name = "n";
  pod.meta.labels.set(names::kPodGroupLabel, "g");
  pod.meta.annotations.set(names::kPodGroupSizeAnnotation, "4");
  for (const PodPhase phase : {PodPhase::kSucceeded, PodPhase::kFailed}) {
    pod.phase = phase;
    ASSERT_TRUE(fact_of(pod));
    EXPECT_EQ(fact_of(pod)->state, PodState::kEnded);
    EXPECT_EQ(fact_of(pod)->node, "");
  }
  pod.meta.owner_references = {
      {.kind = "PyTorchJob", .name = "t", .uid = "t-uid", .controller = true}};
  EXPECT_EQ(fact_of(pod), std::nullopt) << "its controller re-creates one that failed";
  pod.phase = PodPhase::kSucceeded;
  EXPECT_EQ(fact_of(pod)->maker, "t-uid");
  pod.meta.deletion_timestamp = Time();
  EXPECT_EQ(fact_of(pod), std::nullopt);
}

TEST(PodFact, OfAGangNamesTheControllerBehindItsJob) {
  berth::Pod pod = job_set_pod("train", "workers", 0);
  pod.meta.annotations.set(names::kPodGroupSizeAnnotation, "2");
  EXPECT_EQ(fact_of(pod)->maker, "") << "its Job is not known yet";
  berth::Job job;
  job.meta.uid = pod.meta.controller()->uid.str();
  EXPECT_EQ(pod_fact(pod, "q", 0, &job)->maker, job.meta.uid);
  job.meta.owner_references = {
      {.kind = "JobSet", .name = "train", .uid = "set", .controller = true}};
  EXPECT_EQ(pod_fact(pod, "q", 0, &job)->maker, "set");
  job.suspended = true;
  EXPECT_EQ(pod_fact(pod, "q", 0, &job)->maker, "") << "a suspended Job makes no pods";
}

// With four completions and a parallelism of two, the third pod replaces the first.
TEST(PodFact, OfAJobThatGoesOnIsForgottenAfterItsEnd) {
  berth::Pod pod = job_set_pod("train", "workers", 0);
  pod.meta.annotations.set(names::kPodGroupSizeAnnotation, "2");
  pod.phase = PodPhase::kSucceeded;
  berth::Job job;
  job.meta.uid = pod.meta.controller()->uid.str();
  job.parallelism = 2;
  job.completions = 2;
  EXPECT_TRUE(pod_fact(pod, "q", 0, &job));
  job.completions = 4;
  EXPECT_EQ(pod_fact(pod, "q", 0, &job), std::nullopt);
  job.finished = true;
  EXPECT_TRUE(pod_fact(pod, "q", 0, &job));
}

// Whether a workload could be reclaimed is known before it runs.
TEST(PodFact, SaysWhetherItCouldStay) {
  berth::Pod pod;
  pod.meta.namespace_ = "ns", pod.meta.name = pod.meta.uid = "p";
  pod.shape.edit()->scheduling_gates = {names::kQueueGate};
  const auto stays = [&](const berth::Job* job = nullptr) {
    return pod_fact(pod, "q", 0, job)->stays;
  };
  const auto made_by = [&](const char* version, const char* kind) {
    pod.meta.owner_references = {
        {.api_version = version, .kind = kind, .name = "o", .uid = "o", .controller = true}};
  };
  EXPECT_TRUE(stays()) << "nobody would create it again";
  pod.never_restarts = true;
  made_by("apps/v1", "ReplicaSet");
  EXPECT_FALSE(stays());
  made_by("example.com/v1", "Thing");
  EXPECT_TRUE(stays());
  pod.never_restarts = false;
  EXPECT_FALSE(stays());
  made_by("kubeflow.org/v1", "TFJob");
  EXPECT_FALSE(stays());
  pod.never_restarts = true;
  EXPECT_TRUE(stays()) << "it may be ExitCode, which only the TFJob says";
  made_by("ray.io/v1", "RayCluster");
  EXPECT_TRUE(stays()) << "a RayJob may have made it";

  made_by("apps/v1", "ReplicaSet");
  pod.shape.edit()->scheduling_gates.clear();
  pod.node_name = "n1";
  pod.meta.annotations.set(names::kAdmittedAnnotation,
                           encode_admission({.uid = "p", .queue = "q", .pool = "*", .maker = "o"}));
  pod.meta.owner_references.clear();
  EXPECT_FALSE(stays()) << "it was let go as one that its controller would create again";
  pod.meta.annotations.erase(names::kAdmittedAnnotation);
  EXPECT_TRUE(stays());

  pod.shape.edit()->scheduling_gates = {names::kQueueGate};
  pod.node_name = Text();
  made_by("batch/v1", "Job");
  berth::Job job;
  job.meta.name = "o", job.parallelism = 4, job.backoff_limit = 6;
  EXPECT_FALSE(stays(&job));
  job.failed = 3;
  EXPECT_TRUE(stays(&job)) << "all four go at once";
  job.ignores_disruptions = true;
  EXPECT_FALSE(stays(&job));
}

TEST(JobFact, TellsWhetherAnAdmissionCouldBeWritten) {
  berth::Job job;
  job.meta.name = "j";
  job.meta.namespace_ = "ns";
  job.suspended = true;
  job.parallelism = 3;
  job.pod_shape.edit()->requests = {{"nvidia.com/gpu", Quantity::whole(2)}};
  const JobFact fact = job_fact(job, "q", 7);
  EXPECT_EQ(fact.workload, "Job/ns/j") << "as its pods name it";
  EXPECT_EQ(fact.requests, (Amounts{{"nvidia.com/gpu", 2}, {"pods", 1}}));
  EXPECT_EQ(fact.parallelism, 3);
  EXPECT_EQ(fact.completions, std::nullopt);
  EXPECT_TRUE(fact.template_mutable) << "it never started";
  job.start_time = Time();
  EXPECT_FALSE(job_fact(job, "q", 7).template_mutable);
  job.has_been_suspended = true;
  EXPECT_TRUE(job_fact(job, "q", 7).template_mutable);
  job.active = 1;
  EXPECT_FALSE(job_fact(job, "q", 7).template_mutable);
  EXPECT_FALSE(fact.held);
  job.meta.annotations.set(names::kHoldAnnotation, "by hand");
  EXPECT_TRUE(job_fact(job, "q", 7).held);
}

// Kueue resumes what Kueue suspends, whatever the namespace's default queue is.
TEST(JobFact, WithKueuesLabelAndNoneOfBerthsIsOutOfTheQueue) {
  berth::Job job;
  job.meta.name = "j";
  job.suspended = true;
  job.meta.labels.set(names::kKueueQueueLabel, "main");
  EXPECT_TRUE(job_fact(job, "q", 0).held);
  job.meta.labels.set(names::kQueueLabel, "q");
  EXPECT_FALSE(job_fact(job, "q", 0).held);
}

TEST(QueueFact, CountsTheClassInMillionths) {
  GPUQueue queue;
  queue.meta.name = "q";
  queue.spec.cohort_name = "c";
  queue.spec.quotas = {{"gpu", "*", 2, 1, 0}, {"nvidia.com/gpu", "training", 4, {}, 3}};
  queue.spec.stop_policy = StopPolicy::kHold;
  const QueueFact fact = queue_fact(queue);
  EXPECT_EQ(fact.quotas[0], (QuotaFact{"gpu", "*", 2 * kWholeGpu, kWholeGpu, 0}));
  EXPECT_EQ(fact.quotas[1], (QuotaFact{"nvidia.com/gpu", "training", 4, std::nullopt, 3}));
  EXPECT_TRUE(fact.held);
  EXPECT_FALSE(fact.strict_fifo);
}

TEST(AdmissionRecord, IsReadAsItIsWritten) {
  AdmissionFact fact{.uid = "u-1",
                     .queue = "q",
                     .cohort = "c",
                     .pool = "training",
                     .pods = 4,
                     .amounts = {{"gpu", 500'000}, {"nvidia.com/gpu", 8}},
                     .since = 1'790'000'000'123'456,
                     .epoch = 7};
  EXPECT_EQ(decode_admission(encode_admission(fact)), fact);
  fact.selects_pool = true;
  fact.maker = "u-2";
  fact.amounts.clear();
  EXPECT_EQ(decode_admission(encode_admission(fact)), fact);
  for (const char* bad :
       {"", "[]", "{", R"({"queue":"q","cohort":"","pool":"p","pods":1,"amounts":{"gpu":-1}})",
        R"({"queue":"q","cohort":"","pool":"p","pods":1e30,"amounts":{}})",
        R"({"queue":"q","cohort":"","pool":"p","pods":1,"amounts":{"gpu":18446744073709551615}})",
        R"({"queue":7,"cohort":"","pool":"p","pods":1,"amounts":{}})"}) {
    EXPECT_EQ(decode_admission(bad), std::nullopt) << bad;
  }
}

TEST(AdmissionRecord, WhatIsNoneIsRefused) {
  const auto is_read = [](const std::string& pods, const std::string& amounts) {
    return decode_admission(R"({"uid":"u","queue":"q","cohort":"","pool":"p","epoch":1,)"
                            R"("since":"2026-11-24T12:00:00.000000Z")" +
                            pods + amounts + "}")
        .has_value();
  };
  const std::string none = R"(,"amounts":{})", most = std::to_string(kMostOfAnything),
                    more = std::to_string(kMostOfAnything + 1);
  EXPECT_TRUE(is_read(R"(,"pods":0)", none));
  EXPECT_TRUE(is_read(R"(,"pods":)" + most, R"(,"amounts":{"cpu":)" + most + "}"));
  for (const std::string& pods : {std::string(), std::string(R"(,"pods":-1)"),
                                  std::string(R"(,"pods":"1")"), R"(,"pods":)" + more})
    EXPECT_FALSE(is_read(pods, none)) << pods;
  for (const char* amounts :
       {"", R"(,"amounts":[])", R"(,"amounts":7)", R"(,"amounts":{"cpu":1.5})"})
    EXPECT_FALSE(is_read(R"(,"pods":1)", amounts)) << amounts;
  EXPECT_FALSE(decode_admission(R"({"cohort":"","pool":"p","pods":1,"amounts":{}})"));
}

TEST(AdmissionRecord, CountsForWhoseUidItHas) {
  ObjectMeta meta;
  meta.uid = "pod-uid";
  const auto note = [&](const char* uid) {
    meta.annotations.set(names::kAdmittedAnnotation,
                         encode_admission({.uid = uid, .queue = "q", .pool = "*"}));
  };
  note("pod-uid");
  EXPECT_TRUE(admission_on(meta));
  note("job-uid");
  EXPECT_FALSE(admission_on(meta)) << "a copy says nothing";
  meta.owner_references.push_back({.kind = "Job", .name = "train", .uid = "job-uid"});
  EXPECT_FALSE(admission_on(meta)) << "an owner that does not control it";
  meta.owner_references[0].controller = true;
  EXPECT_TRUE(admission_on(meta));
}

// A pod of a Job of three, which requests a third of what the Job was admitted with.
berth::Pod orphan_of(const std::string& job) {
  berth::Pod pod;
  pod.meta.name = "train-0", pod.meta.uid = "pod-uid", pod.node_name = "n1";
  pod.meta.labels.set("batch.kubernetes.io/controller-uid", Text(job));
  pod.meta.annotations.set(names::kAdmittedAnnotation,
                           encode_admission({.uid = "job-uid",
                                             .queue = "q",
                                             .pool = "*",
                                             .pods = 3,
                                             .amounts = {{"cpu", 4000}, {"nvidia.com/gpu", 6}},
                                             .since = 5,
                                             .nodes = {"n1", "n2", "n3"},
                                             .shapes = {{"", 3, {{"nvidia.com/gpu", 2}}}}}));
  return pod;
}

// A user who removes the pod from its Job may write another controller into it.
TEST(AdmissionRecord, OfAJobCountsForItsPartOnAPodThatTheJobNoLongerControls) {
  const AdmissionFact part{.uid = "pod-uid",
                           .queue = "q",
                           .pool = "*",
                           .pods = 1,
                           .amounts = {{"cpu", 1334}, {"nvidia.com/gpu", 2}},
                           .since = 5,
                           .nodes = {"n1"},
                           .shapes = {{"", 1, {{"nvidia.com/gpu", 2}}}},
                           .maker = "job-uid"};
  berth::Pod pod = orphan_of("job-uid");
  EXPECT_EQ(admission_on(pod), part);
  pod.meta.owner_references = {
      {.kind = "ReplicaSet", .name = "web", .uid = "web", .controller = true}};
  EXPECT_EQ(admission_on(pod), part) << "a foreign controller";
  pod.meta.owner_references[0] = {.kind = "Job", .name = "train", .uid = "job-uid"};
  EXPECT_EQ(admission_on(pod), part) << "the Job is named, and does not control it";
  pod.meta.owner_references[0].controller = true;
  EXPECT_EQ(admission_on(pod)->pods, 3) << "the Job's own";
}

TEST(AdmissionRecord, OfAJobCountsOnNoPodThatItDidNotMakeOrThatRunsNowhere) {
  EXPECT_FALSE(admission_on(orphan_of("another")));
  berth::Pod pod = orphan_of("job-uid");
  pod.meta.labels = {};
  EXPECT_FALSE(admission_on(pod));
  pod = orphan_of("job-uid");
  pod.node_name = Text();
  EXPECT_FALSE(admission_on(pod));
}

}  // namespace
}  // namespace berth::queue::test
