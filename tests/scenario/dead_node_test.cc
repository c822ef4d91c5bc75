// SPDX-License-Identifier: Apache-2.0
// A node dies under workloads that a queue admitted. Healthy pods stay, replacements start on other
// nodes, and no workload waits for pods that can't leave.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "tests/scenario/play.h"

namespace berth::test {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

// Nodes of four GPUs, and a queue for all of them. The node gpu-1 dies after two minutes. Its
// pods are deleted five minutes later, and are lost once their grace period has passed.
std::string cluster(const std::string& queue, const std::string& timeline, int nodes = 3) {
  return fmt::format(R"(
nodes: [{{count: {}, name: "gpu-", product: A100-80GB, gpus: 4}}]
objects:
- {{apiVersion: v1, kind: Namespace, metadata: {{name: nlp, labels: {{gpu.berth.dev/managed: "true"}}}}}}
webhook: {{}}
timeline:
- at: 1s
  apply:
    apiVersion: gpu.berth.dev/v1alpha1
    kind: GPUQueue
    metadata: {{name: nlp}}
    spec:
      default: true
      namespaceSelector: {{matchLabels: {{kubernetes.io/metadata.name: nlp}}}}
      quotas: [{{resource: nvidia.com/gpu, pool: "*", nominalQuota: 12}}]
{}{}
- {{at: 2m, stop-kubelet: gpu-1}}
- {{at: 40m, annotate: gpu-2, set: {{x.example.com/y: z}}}}
expect: {{gpuqueue/nlp: True}}
limit: 1h
patience: 45m
)",
                     nodes, queue, timeline);
}

std::string job_of_two(const std::string& spec = "", const std::string& annotations = "{}") {
  return fmt::format(R"(
- at: 20s
  apply:
    apiVersion: batch/v1
    kind: Job
    metadata: {{name: train, namespace: nlp}}
    spec:
      parallelism: 2
      completions: 2
{}
      template:
        metadata: {{annotations: {}}}
        spec:
          restartPolicy: Never
          containers: [{{name: train, image: train, resources: {{limits: {{nvidia.com/gpu: 4}}}}}}]
)",
                     spec, annotations);
}

constexpr char kFailurePolicy[] =
    "      podFailurePolicy: {rules: [{action: Ignore, onPodConditions: [{type: "
    "DisruptionTarget}]}]}";
constexpr char kForce[] = "      forceDeleteAfter: 2m";

std::string member(const std::string& at, const std::string& name) {
  return fmt::format(R"(
- at: {}
  apply:
    apiVersion: v1
    kind: Pod
    metadata:
      namespace: nlp
      name: {}
      labels: {{gpu.berth.dev/pod-group: ring}}
      annotations: {{gpu.berth.dev/pod-group-size: "2"}}
      ownerReferences: [{{apiVersion: kubeflow.org/v1, kind: PyTorchJob, name: ring, uid: ring-uid, controller: true}}]
    spec:
      containers: [{{name: main, image: x, resources: {{limits: {{nvidia.com/gpu: 4}}}}}}]
)",
                     at, name);
}

// The lines of the transcript that say all of the words.
std::vector<std::string> lines(const Played& played, const std::vector<std::string>& words) {
  std::istringstream text(played.transcript);
  std::vector<std::string> found;
  for (std::string line; std::getline(text, line);)
    if (std::ranges::all_of(words, [&](const std::string& w) { return line.find(w) != line.npos; }))
      found.push_back(line);
  return found;
}

// Nobody was sent away but from the node that died.
void expect_healthy_pods_stay(const Played& played) {
  EXPECT_THAT(lines(played, {"sent away from"}), Each(HasSubstr("from gpu-1")))
      << played.transcript;
}

TEST(DeadNode, UnderAJobOfTwoPodsIsReplacedAndTheHealthyPodStays) {
  const Played played = play(cluster("", job_of_two()));
  EXPECT_THAT(played.unsettled, IsEmpty()) << played.transcript;
  EXPECT_THAT(lines(played, {"nlp/train", "runs on gpu-3"}), SizeIs(1)) << played.transcript;
  expect_healthy_pods_stay(played);
}

TEST(DeadNode, WithoutAFreeNodeLeavesTheHealthyPodWhereItIs) {
  const Played played = play(cluster("", job_of_two(), 2));
  EXPECT_THAT(lines(played, {"nlp/train", "no node has room"}), Not(IsEmpty()))
      << played.transcript;
  expect_healthy_pods_stay(played);
}

TEST(DeadNode, UnderAGangLetsTheNewMemberStartOnAHealthyNode) {
  const Played played =
      play(cluster("", member("20s", "r0") + member("20s", "r1") + member("15m", "r2")));
  EXPECT_THAT(played.unsettled, IsEmpty()) << played.transcript;
  EXPECT_THAT(lines(played, {"nlp/r2", "runs on gpu-3"}), SizeIs(1)) << played.transcript;
  expect_healthy_pods_stay(played);
}

TEST(DeadNode, ThatComesBackBeforeItsPodsAreDeletedChangesNothing) {
  const Played played = play(cluster("", job_of_two() + "- {at: 5m, start-kubelet: gpu-1}\n"));
  EXPECT_THAT(played.unsettled, IsEmpty()) << played.transcript;
  EXPECT_THAT(lines(played, {"sent away from"}), IsEmpty()) << played.transcript;
}

TEST(DeadNode, ThatComesBackLateEndsItsOldPodAndTheNewOneStays) {
  const Played played = play(cluster("", job_of_two() + "- {at: 20m, start-kubelet: gpu-1}\n"));
  EXPECT_THAT(played.unsettled, IsEmpty()) << played.transcript;
  EXPECT_THAT(lines(played, {"nlp/train", "runs on gpu-3"}), SizeIs(1)) << played.transcript;
  EXPECT_THAT(lines(played, {"nlp/train", "runs on"}), SizeIs(3)) << played.transcript;
  expect_healthy_pods_stay(played);
}

// With a podFailurePolicy Kubernetes replaces a pod only once it has ended.
TEST(DeadNode, UnderAJobThatAllowsItIsLeftByForce) {
  const Played played = play(cluster(
      kForce, job_of_two(kFailurePolicy, R"({gpu.berth.dev/safe-to-force-delete: "true"})")));
  EXPECT_THAT(played.unsettled, IsEmpty()) << played.transcript;
  EXPECT_THAT(lines(played, {"nlp/train", "runs on gpu-3"}), SizeIs(1)) << played.transcript;
  expect_healthy_pods_stay(played);
}

TEST(DeadNode, IsLeftByForceOnlyByPodsThatAllowIt) {
  const Played played = play(cluster(kForce, job_of_two(kFailurePolicy)));
  EXPECT_THAT(lines(played, {"nlp/train", "runs on gpu-3"}), IsEmpty()) << played.transcript;
  expect_healthy_pods_stay(played);
}

}  // namespace
}  // namespace berth::test
