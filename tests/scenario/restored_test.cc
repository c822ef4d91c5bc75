// SPDX-License-Identifier: Apache-2.0
// A backup of a namespace with an admitted Job, restored into this cluster.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/scenario/play.h"

namespace berth::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string restored_job(const std::string& webhook) {
  return R"(
nodes: [{count: 2, name: "gpu-", product: A100-80GB, gpus: 4}]
objects:
- {apiVersion: v1, kind: Namespace, metadata: {name: nlp, labels: {gpu.berth.dev/managed: "true"}}}
)" + webhook +
         R"(
timeline:
- at: 1s
  apply:
    apiVersion: gpu.berth.dev/v1alpha1
    kind: GPUQueue
    metadata: {name: nlp}
    spec:
      default: true
      namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: nlp}}
      quotas: [{resource: nvidia.com/gpu, pool: "*", nominalQuota: 8}]
- at: 20s
  apply:
    apiVersion: batch/v1
    kind: Job
    metadata:
      name: restored
      namespace: nlp
      labels: {gpu.berth.dev/queue: nlp}
      annotations:
        gpu.berth.dev/admitted: '{"uid":"11111111-1111-1111-1111-111111111111","queue":"nlp","pool":"*","since":"2026-11-20T10:00:00Z","nodes":["old-n7"]}'
    spec:
      suspend: true
      template:
        spec:
          restartPolicy: Never
          affinity:
            nodeAffinity:
              requiredDuringSchedulingIgnoredDuringExecution:
                nodeSelectorTerms: [{matchFields: [{key: metadata.name, operator: In, values: [old-n7]}]}]
          containers: [{name: train, image: train, resources: {limits: {nvidia.com/gpu: 1}}}]
- {at: 2m, annotate: gpu-1, set: {x.example.com/y: z}}
expect: {gpuqueue/nlp: True}
)";
}

TEST(Restored, AnAdmittedJobQueuesAnewAndRunsOnTheNodesOfThisCluster) {
  for (const char* webhook : {"webhook: {}", ""}) {
    const Played played = play(restored_job(webhook));
    EXPECT_THAT(played.transcript, HasSubstr("runs on gpu-1")) << webhook;
    EXPECT_THAT(played.transcript, Not(HasSubstr("NodesNotSelected"))) << played.transcript;
  }
}

}  // namespace
}  // namespace berth::test
