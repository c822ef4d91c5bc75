// SPDX-License-Identifier: Apache-2.0
// A Job or a Pod of a manifest, as the API server would make it.
#include "controller/preview/given_workload.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apis/base/names.h"
#include "controller/queue/index/facts_from.h"

namespace berth {
namespace {

using testing::HasSubstr;

constexpr char kJob[] = R"(apiVersion: batch/v1
kind: Job
metadata: {name: train, namespace: vision}
spec:
  parallelism: 3
  suspend: false
  template:
    spec:
      initContainers: [{name: warm, resources: {limits: {nvidia.com/gpu: 4}}}]
      containers:
      - {name: main, resources: {requests: {cpu: 500m}, limits: {cpu: 2, nvidia.com/gpu: 2}}}
      - {name: side, resources: {limits: {memory: 1Gi}}}
)";

Result<GivenWorkload> read(const std::string& yaml, const std::string& namespace_ = "default") {
  const Manifest manifest = parse_manifest(yaml, "job.yaml");
  if (manifest.documents.size() != 1) throw std::runtime_error("not one document");
  return read_workload(manifest.documents.front(), namespace_);
}

TEST(GivenWorkload, RequestsWhatItLimits) {
  const GivenWorkload job = read(kJob).value();
  EXPECT_EQ(job.shape()->requests.get("nvidia.com/gpu"), Quantity::whole(4));
  EXPECT_EQ(job.shape()->requests.get("memory"), Quantity::whole(1 << 30));
  EXPECT_EQ(job.shape()->requests.get("cpu").thousandths_rounded_up(), 500) << "as it says";
}

TEST(GivenWorkload, StandsInTheClusterHeldBack) {
  ClusterState cluster;
  const Time now = Time(std::chrono::seconds(1'800'000'000));
  put_workload(read(kJob).value(), cluster, now);
  const Job* job = cluster.jobs().find("vision", "train");
  ASSERT_NE(job, nullptr);
  const queue::JobFact fact = queue::job_fact(*job, "q", 0);
  EXPECT_TRUE(fact.suspended);
  EXPECT_TRUE(fact.template_mutable);
  EXPECT_EQ(fact.parallelism, 3);
  EXPECT_EQ(job->meta.creation_timestamp, now);
}

// As the webhook does, to which Kueue's label says nothing.
TEST(GivenWorkload, WithKueuesLabelIsMadeInItsNamespacesDefaultQueue) {
  ClusterState cluster;
  Namespace vision;
  vision.meta.name = "vision";
  cluster.upsert(vision, Time());
  GPUQueue queue;
  queue.meta.name = "images";
  queue.spec.default_queue = true;
  queue.spec.namespace_selector.emplace();
  cluster.upsert(queue, Time());
  GivenWorkload job = read(kJob).value();
  std::get<Job>(job.object).meta.labels.set(names::kKueueQueueLabel, "main");
  put_workload(job, cluster, Time());
  EXPECT_EQ(cluster.jobs().find("vision", "train")->meta.labels.get(names::kQueueLabel), "images");
  GivenWorkload without = job;
  std::get<Job>(without.object).meta.name = "cpu";
  std::get<Job>(without.object).meta.deletion_timestamp = Time();
  std::get<Job>(without.object).pod_shape.edit()->requests = {};
  put_workload(without, cluster, Time());
  const Job* cpu = cluster.jobs().find("vision", "cpu");
  ASSERT_NE(cpu, nullptr);
  EXPECT_FALSE(cpu->meta.labels.contains(names::kQueueLabel)) << "it asks for no GPU";
  EXPECT_FALSE(cpu->meta.deletion_timestamp.has_value()) << "it is made anew";
}

TEST(GivenWorkload, APodIsGatedAndHasTheNumberOfItsClass) {
  constexpr char kPod[] =
      "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  priorityClassName: deadline\n"
      "  containers: [{name: m, resources: {limits: {nvidia.com/gpu: 1}}}]\n";
  ClusterState cluster;
  PriorityClass deadline;
  deadline.meta.name = "deadline";
  deadline.value = 1000;
  cluster.upsert(deadline, Time());
  put_workload(read(kPod, "lab").value(), cluster, Time());
  const Pod* pod = cluster.pods().find("lab", "p");
  ASSERT_NE(pod, nullptr) << "in the namespace that is meant otherwise";
  EXPECT_EQ(pod->shape->priority, 1000);
  EXPECT_EQ(queue::pod_fact(*pod, "q", 0)->state, queue::PodState::kWaiting);
}

TEST(GivenWorkload, OfGenerateNameItMakesAName) {
  EXPECT_EQ(workload_name(read("apiVersion: batch/v1\nkind: Job\nmetadata: {generateName: a-}\n"
                               "spec: {template: {spec: {}}}\n")
                              .value()),
            "Job/default/a-xxxxx");
}

TEST(GivenWorkload, SaysWhatIsWrong) {
  const auto fault = [](const std::string& yaml) {
    const Result<GivenWorkload> made = read(yaml);
    return made ? std::string() : describe(made.error());
  };
  EXPECT_THAT(fault("apiVersion: batch/v1\nkind: Job\nspec: {}\n"), HasSubstr("metadata.name"));
  EXPECT_THAT(fault("apiVersion: batch/v1\nkind: Job\nmetadata: {name: a}\n"
                    "spec: {parallelism: many}\n"),
              HasSubstr("parallelism"));
  for (const char* odd : {"spec: []", "spec: {template: 3}", "spec: {template: {spec: []}}",
                          "spec: {template: {spec: {containers: 4}}}",
                          "spec: {template: {spec: {containers: [{resources: {limits: 5}}]}}}",
                          "spec: {template: {spec: {containers: [{resources: {requests: a, "
                          "limits: {cpu: 1}}}]}}}",
                          "spec: {template: {spec: {resources: 7, initContainers: {}}}}"})
    fault(std::string("apiVersion: batch/v1\nkind: Job\nmetadata: {name: a}\n") + odd + "\n");
}

}  // namespace
}  // namespace berth
