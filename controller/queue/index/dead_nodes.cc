// SPDX-License-Identifier: Apache-2.0
#include "controller/queue/index/dead_nodes.h"

#include <fmt/format.h>

#include <algorithm>

#include "apis/base/names.h"
#include "apis/base/time.h"
#include "controller/core/seeded_bugs.h"
#include "controller/queue/record/admission_record.h"

namespace berth::queue {

// berth marks a pod only after its grace period. So berth did not write an earlier mark.
std::optional<Time> lost_since(const berth::Pod& pod) {
  if (!pod.terminating() || seeded(SeededBug::kAwaitTheDead)) return {};
  const Text* mark = pod.meta.annotations.find(names::kOnDeadNodeSinceAnnotation);
  if (mark == nullptr) return {};
  const Result<Time> since = parse_time(mark->view());
  if (!since || *since < *pod.meta.deletion_timestamp) return {};
  return *since;
}

bool may_be_lost(const berth::Pod& pod) {
  return pod.terminating() && !pod.node_name.empty() &&
         pod.meta.annotations.contains(names::kAdmittedAnnotation);
}

const GPUQueue* admitting_queue(const ClusterState& cluster, const berth::Pod& pod) {
  const auto record = admission_on(pod);
  return record ? cluster.gpu_queues().find(record->queue) : nullptr;
}

bool is_safe_to_force_delete(const berth::Pod& pod) {
  return pod.meta.annotations.get(names::kSafeToForceDeleteAnnotation) == "true";
}

std::string describe_lost(std::string_view pod, std::string_view node) {
  return fmt::format(
      "pod {0} can't leave node {1}, which is not ready; once the machine is off for sure, run "
      "`kubectl delete node {1}`, or `kubectl taint node {1} "
      "node.kubernetes.io/out-of-service=:NoExecute`",
      pod, node);
}

std::vector<std::string> dead_nodes(const ClusterState& cluster) {
  std::vector<std::string> names;
  for (const auto& node : cluster.nodes()) {
    const auto& pods = cluster.pods_on(node->meta.name);
    if (!node->ready || std::ranges::any_of(pods, [](const berth::Pod* pod) {
          return lost_since(*pod).has_value();
        }))
      names.push_back(node->meta.name);
  }
  return names;
}

}  // namespace berth::queue
