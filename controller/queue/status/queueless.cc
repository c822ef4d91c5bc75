// SPDX-License-Identifier: Apache-2.0
#include "controller/queue/status/queueless.h"

#include <algorithm>

#include "apis/base/names.h"
#include "controller/queue/index/facts_from.h"

namespace berth::queue {

bool waits_for_named_queue(const berth::Job& job) {
  return job.suspended && !job.finished && !job.meta.deletion_timestamp &&
         job.meta.labels.contains(names::kQueueLabel) &&
         !job.meta.annotations.contains(names::kHoldAnnotation) && !is_left_to_kueue(job.meta);
}

bool waits_for_named_queue(const berth::Pod& pod) {
  return is_gated(pod) && !pod.terminating() && pod.meta.labels.contains(names::kQueueLabel);
}

bool any_waits_for_named_queue(const ClusterState& cluster) {
  const auto waits = [](const auto& object) { return waits_for_named_queue(*object); };
  return std::ranges::any_of(cluster.jobs(), waits) || std::ranges::any_of(cluster.pods(), waits);
}

}  // namespace berth::queue
