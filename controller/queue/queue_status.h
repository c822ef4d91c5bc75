// SPDX-License-Identifier: Apache-2.0
// QueueStatus: what a GPUQueue tells of itself: what it holds of each quota, who waits and why, and
// conditions.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "apis/gpu_queue.h"
#include "controller/core/cause.h"
#include "controller/core/plan.h"
#include "controller/core/snapshot.h"
#include "controller/queue/cluster_index.h"
#include "controller/queue/queue_funding.h"
#include "controller/queue/queue_report.h"

namespace berth {

struct QueueFindings {  // of all queues
  const queue::ClusterIndex& index;
  const queue::Survey& survey;
  const queue::QueueFunding& funding;
  const queue::NamesByQueue namespaces;                          // with workloads of the queue
  const queue::NamesByQueue lost_defaults;                       // to an older queue
  const std::map<std::string, Cause, std::less<>> unmet_quotas;  // of namespaces
  const std::map<std::string, Cause, std::less<>> blocked_pins;
  const std::optional<Cause> paused;  // why none of them admits anybody
};

// The full desired status; `differs` from the one that stands is worked out here. A body is
// made only for one that does: there may be ten thousand queues.
StatusUpdate compute_queue_status(const Snapshot& snapshot, const GPUQueue& queue,
                                  const QueueFindings& findings);

}  // namespace berth
