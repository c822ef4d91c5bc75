// SPDX-License-Identifier: Apache-2.0
#include "controller/explain/lost_pods.h"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <vector>

#include "apis/base/names.h"
#include "apis/base/reasons.h"
#include "apis/base/time.h"
#include "controller/core/patience.h"
#include "controller/preview/words.h"
#include "controller/queue/index/dead_nodes.h"

namespace berth {
namespace {

// Whether and when its queue force-deletes it. Empty: the queue force-deletes none, or is unknown.
std::string told_force(const Snapshot& snapshot, const Pod& pod, Time lost_since) {
  const GPUQueue* queue = queue::admitting_queue(snapshot.cluster, pod);
  if (queue == nullptr || !queue->spec.force_delete_after) return {};
  if (!queue::is_safe_to_force_delete(pod))
    return fmt::format("queue {} deletes by force only pods with annotation {}: \"true\"",
                       queue->meta.name, names::kSafeToForceDeleteAnnotation);
  return fmt::format(
      "queue {} deletes it by force at {}", queue->meta.name,
      format_time(patience_ends(snapshot, lost_since, *queue->spec.force_delete_after)));
}

}  // namespace

void explain_lost(const Snapshot& snapshot, const Pod& pod, Explanation& out) {
  const std::optional<Time> since = queue::lost_since(pod);
  if (!since) return;
  out.reason = reasons::kPodsOnDeadNode;
  out.message = queue::describe_lost(pod.meta.name, pod.node_name.view());
  out.add("lost", fmt::format("since {} no queue charges it, and no workload waits for its end",
                              format_time(*since)));
  if (const std::string force = told_force(snapshot, pod, *since); !force.empty())
    out.add("lost", force);
}

void note_lost_pods(const Snapshot& snapshot, const Node& node, Explanation& out) {
  if (node.ready) return;
  std::vector<std::string> lost, leaving;
  for (const Pod* pod : snapshot.cluster.pods_on(node.meta.name))
    if (queue::may_be_lost(*pod))
      (queue::lost_since(*pod) ? lost : leaving).push_back(key_of(pod->meta).str());
  if (!leaving.empty())
    out.add("leaving",
            fmt::format("terminating, and not yet taken for lost: {}", name_some(leaving, "pod")));
  if (lost.empty()) return;
  out.add("lost", fmt::format("can't leave it while it is not ready: {}", name_some(lost, "pod")),
          reasons::kPodsOnDeadNode);
  out.remedies.push_back(
      {"once the machine is off for sure, delete the node, or give it taint "
       "node.kubernetes.io/out-of-service",
       fmt::format("kubectl delete node {}", node.meta.name),
       {}});
}

}  // namespace berth
