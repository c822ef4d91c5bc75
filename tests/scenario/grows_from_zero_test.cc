// SPDX-License-Identifier: Apache-2.0
// An elastic pool without nodes, from a Job's creation through the webhook to its pods on the nodes
// that an autoscaler adds. The timeline plays the autoscaler: the Job's pods are unschedulable by
// then, and the node is labelled as the node group's template says, before its GPUs are discovered.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/scenario/play.h"

namespace berth::test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

constexpr char kCluster[] = R"(
queuePolicy: true
nodes: [{name: n1, labels: {tier: training}}]
webhook: {}
objects:
- {apiVersion: v1, kind: Namespace, metadata: {name: nlp, labels: {team: nlp, gpu.berth.dev/managed: "true"}}}
- apiVersion: gpu.berth.dev/v1alpha1
  kind: GPUClusterPolicy
  metadata: {name: cluster}
  spec:
    pools:
    - {name: training, nodeSelector: {matchLabels: {tier: training}}}
    - name: elastic
      nodeSelector: {matchLabels: {tier: elastic}}
      elastic: {maxNodes: 2}
      taints: [{key: nvidia.com/gpu, value: present, effect: NoSchedule}]
- apiVersion: gpu.berth.dev/v1alpha1
  kind: GPUQueue
  metadata: {name: nlp}
  spec:
    default: true
    namespaceSelector: {matchLabels: {team: nlp}}
    quotas: [{resource: nvidia.com/gpu, pool: elastic, nominalQuota: 8}]
timeline:
- at: 20s
  apply:
    apiVersion: batch/v1
    kind: Job
    metadata: {namespace: nlp, name: train}
    spec:
      parallelism: 2
      completions: 2
      template:
        metadata: {labels: {app: train}}
        spec:
          restartPolicy: Never
          containers: [{name: main, image: x, resources: {limits: {nvidia.com/gpu: 4}}}]
- at: 60s
  add-node: g1
  labels: {tier: elastic, gpu.berth.dev/pool: elastic, nvidia.com/gpu.present: "", nvidia.com/gpu.product: "", nvidia.com/gpu.count: ""}
- at: 60s
  add-node: g2
  labels: {tier: elastic, gpu.berth.dev/pool: elastic, nvidia.com/gpu.present: "", nvidia.com/gpu.product: "", nvidia.com/gpu.count: ""}
)";

void expect_growth(const Played& played) {
  EXPECT_THAT(played.unsettled, IsEmpty());
  const std::size_t waits = played.transcript.find("waits: no node has room for it");
  ASSERT_NE(waits, std::string::npos) << "no autoscaler sees it\n" << played.transcript;
  for (const char* line : {"runs on g1", "runs on g2"})
    EXPECT_THAT(played.transcript.substr(waits), HasSubstr(line)) << played.transcript;
}

TEST(GrowsFromZero, WhereAnotherPoolHasTheSameGpus) { expect_growth(play(kCluster)); }

TEST(GrowsFromZero, WhereNoNodeHasGpus) {
  expect_growth(play(std::string(kCluster) + "- {at: 5s, remove-node: n1}\n"));
}

}  // namespace
}  // namespace berth::test
