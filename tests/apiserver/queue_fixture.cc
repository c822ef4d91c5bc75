// SPDX-License-Identifier: Apache-2.0
#include "tests/apiserver/queue_fixture.h"

#include <fmt/format.h>

namespace berth::test {
namespace {

constexpr char kPolicy[] = R"(
apiVersion: gpu.berth.dev/v1alpha1
kind: GPUClusterPolicy
metadata: {name: cluster}
spec: {pools: [{name: training, nodeSelector: {matchLabels: {tier: training}}}]}
)";

}  // namespace

void QueueTest::SetUp() {
  invariants_.pool_labels = {"gpu.berth.dev/pool"};
  RolloutTest::SetUp();
}

void QueueTest::add_pool(int nodes, int gpus) {
  cluster().add_gpu_nodes(nodes, {.gpus = gpus, .labels = {{"tier", "training"}}});
  cluster().wait_agents_running();
  kube().apply(kPolicy);
}

void QueueTest::apply_queue(const std::string& name, const std::string& namespace_, int nominal) {
  kube().apply(fmt::format(R"(
apiVersion: gpu.berth.dev/v1alpha1
kind: GPUQueue
metadata: {{name: {0}}}
spec:
  cohortName: research
  default: true
  namespaceSelector: {{matchLabels: {{kubernetes.io/metadata.name: {1}}}}}
  quotas: [{{resource: nvidia.com/gpu, pool: training, nominalQuota: {2}}}]
)",
                           name, namespace_, nominal));
}

void QueueTest::submit(const std::string& namespace_, const std::string& name, int gpus, int pods) {
  kube().apply(fmt::format(R"(
apiVersion: batch/v1
kind: Job
metadata: {{namespace: {0}, name: {1}}}
spec:
  suspend: true
  parallelism: {3}
  completions: {3}
  template:
    spec:
      restartPolicy: Never
      containers: [{{name: main, image: example.com/train, resources: {{limits: {{nvidia.com/gpu: {2}}}}}}}]
)",
                           namespace_, name, gpus, pods));
}

void QueueTest::gate(const std::string& namespace_, const std::string& name, int gpus,
                     const std::string& gang, int size) {
  const std::string of_gang = gang.empty()
                                  ? ""
                                  : fmt::format(
                                        ", labels: {{gpu.berth.dev/pod-group: {}}}, annotations: "
                                        "{{gpu.berth.dev/pod-group-size: '{}'}}",
                                        gang, size);
  kube().apply(fmt::format(R"(
apiVersion: v1
kind: Pod
metadata: {{namespace: {0}, name: {1}{3}}}
spec:
  schedulingGates: [{{name: gpu.berth.dev/queue}}]
  containers: [{{name: main, image: example.com/train, resources: {{limits: {{nvidia.com/gpu: {2}}}}}}}]
)",
                           namespace_, name, gpus, of_gang));
}

std::string QueueTest::reasons(const std::string& name) {
  std::string told;
  for (const Object& row : queue(name).items("/status/pendingReasons"))
    told +=
        fmt::format("{}{} {}", told.empty() ? "" : ", ", row.text("/reason"), row.number("/count"));
  return told;
}

void QueueTest::wait_reasons(const std::string& name, const std::string& wanted) {
  wait_for(name + " to tell " + wanted, 30, [&]() -> std::string {
    return reasons(name) == wanted ? "" : queue(name).at("/status").dump();
  });
}

void QueueTest::wait_used(const std::string& name, const std::string& wanted) {
  wait_for(name + " to use " + wanted, 30, [&]() -> std::string {
    const Object now = queue(name);
    return now.text("/status/totals/used") == wanted ? "" : now.at("/status").dump();
  });
}

std::string QueueTest::node_of(const std::string& namespace_, const std::string& pod) {
  return kube().get({"pods", pod, namespace_}).text("/spec/nodeName");
}

bool QueueTest::gated(const std::string& namespace_, const std::string& pod) {
  return kube().get({"pods", pod, namespace_}).has("/spec/schedulingGates");
}

void QueueTest::wait_bound(const std::string& namespace_, const std::string& pod) {
  wait_for(pod + " to run", 60, [&]() -> std::string {
    return node_of(namespace_, pod).empty() ? kube().get({"pods", pod, namespace_}).dump() : "";
  });
}

void QueueTest::wait_nothing_in_flight() {
  wait_for("an empty ledger", 30, [&]() -> std::string {
    const Object ledger = kube().get({"configmaps", "berth-admissions", "berth-system"});
    return ledger.strings("/data").empty() ? "" : ledger.dump();
  });
}

}  // namespace berth::test
