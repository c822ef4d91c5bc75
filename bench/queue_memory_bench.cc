// SPDX-License-Identifier: Apache-2.0
// queue_memory_bench: what a process holds in which 50,000 gated pods wait in 300 queues on 2,000
// nodes: the stores, the queue's index and the plan of one cycle. Objects are decoded one by one
// from the text that an API server would send, and nothing of that is kept. Prints one JSON object.
#include <fmt/format.h>
#include <malloc.h>

#include <stdexcept>

#include "apis/codec/decode.h"
#include "bench/usage.h"
#include "controller/queue/cycle/queue_report.h"
#include "controller/queue/index/cluster_index.h"
#include "controller/queue/status/reconcile.h"

namespace berth {
namespace {

constexpr int kNodes = 2'000, kPods = 50'000, kQueues = 300, kApps = 500, kPools = 4;

template <class T>
void add(ClusterState& cluster, std::string text) {
  Result<T> read = decode_object<T>(text);
  if (!read) throw std::runtime_error(describe(read.error()));
  cluster.upsert(*std::move(read), Time{});
}

std::string node(int i) {
  return fmt::format(
      R"({{"metadata":{{"name":"gpu-{0:05}","uid":"{0:08x}-0000-4000-8000-000000000001","labels":)"
      R"({{"pool":"p{1}","kubernetes.io/hostname":"gpu-{0:05}","nvidia.com/gpu.present":"true",)"
      R"("nvidia.com/gpu.count":"8"}}}},"status":{{"conditions":[{{"type":"Ready","status":"True"}}],)"
      R"("allocatable":{{"cpu":"128","memory":"2113393996Ki","pods":"110","nvidia.com/gpu":"8"}}}}}})",
      i, i % kPools);
}

std::string pod(int i) {
  const int app = i % kApps;
  return fmt::format(
      R"({{"metadata":{{"name":"app-{1:03}-7d9f8c6b5-{0:05x}","namespace":"team-{2:03}","uid":)"
      R"("{0:08x}-0000-4000-8000-000000000002","resourceVersion":"{0}","creationTimestamp":)"
      R"("2026-09-01T08:{3:02}:{4:02}Z","labels":{{"app":"app-{1:03}","pod-template-hash":"7d9f8c6b5",)"
      R"("gpu.berth.dev/queue":"team-{2:03}"}},"ownerReferences":[{{"apiVersion":"apps/v1",)"
      R"("kind":"ReplicaSet","name":"app-{1:03}-7d9f8c6b5","uid":"{1:08x}-0000-4000-8000-000000000003",)"
      R"("controller":true}}]}},"spec":{{"schedulingGates":[{{"name":"gpu.berth.dev/queue"}}],)"
      R"("containers":[{{"name":"main","image":"registry.example.com/app","resources":{{"requests":)"
      R"({{"cpu":"8","memory":"64Gi","nvidia.com/gpu":"{5}"}}}}}}]}},"status":{{"phase":"Pending"}}}})",
      i, app, app % kQueues, i / 60 % 60, i % 60, 1 + app % 4);
}

std::string queue(int i) {
  return fmt::format(
      R"({{"metadata":{{"name":"team-{0:03}","uid":"{0:08x}-0000-4000-8000-000000000004"}},"spec":)"
      R"({{"cohortName":"cohort-{1}","namespaceSelector":{{"matchLabels":)"
      R"({{"kubernetes.io/metadata.name":"team-{0:03}"}}}},"quotas":[{{"resource":"nvidia.com/gpu",)"
      R"("pool":"p{2}","nominalQuota":1}}]}}}})",
      i, i % 50, i % kPools);
}

ClusterState waiting() {
  ClusterState cluster;
  std::string pools;
  for (int i = 0; i < kPools; ++i)
    pools += fmt::format(R"({}{{"name":"p{}","nodeSelector":{{"matchLabels":{{"pool":"p{}"}}}}}})",
                         i == 0 ? "" : ",", i, i);
  add<GPUClusterPolicy>(
      cluster,
      fmt::format(R"({{"metadata":{{"name":"cluster"}},"spec":{{"pools":[{}]}}}})", pools));
  for (int i = 0; i < kQueues; ++i) {
    add<Namespace>(cluster, fmt::format(R"({{"metadata":{{"name":"team-{0:03}","labels":)"
                                        R"({{"kubernetes.io/metadata.name":"team-{0:03}"}}}}}})",
                                        i));
    add<GPUQueue>(cluster, queue(i));
  }
  for (int i = 0; i < kNodes; ++i) add<Node>(cluster, node(i));
  for (int i = 0; i < kPods; ++i) add<Pod>(cluster, pod(i));
  return cluster;
}

int run() {
  const ClusterState cluster = waiting();
  const Answers answers;
  const Settings settings;
  const Plan plan = queue::reconcile_queues({cluster, answers, settings, Time{}});
  std::int64_t pending = 0;
  const queue::Survey survey(cluster.view<queue::ClusterIndex>().facts(), 0);
  for (const auto& each : cluster.gpu_queues()) pending += survey.find(each->meta.name)->pending;
  malloc_trim(0);  // as the controller does between its keys
  const Memory memory = memory_now();
  fmt::print("{{\"resident_mib\": {:.1f}, \"anonymous_mib\": {:.1f}, \"pending\": {}}}\n",
             memory.resident_mib, memory.anonymous_mib, pending);
  return pending == kPods ? 0 : 1;
}

}  // namespace
}  // namespace berth

int main() { return berth::run(); }
