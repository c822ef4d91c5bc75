// SPDX-License-Identifier: Apache-2.0
// QueueStatus: the status of a GPUQueue: what it uses of each quota, which workloads wait and why,
// and its conditions.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "apis/kinds/gpu_queue.h"
#include "controller/core/cause.h"
#include "controller/core/plan.h"
#include "controller/core/snapshot.h"
#include "controller/queue/cycle/queue_report.h"
#include "controller/queue/index/cluster_index.h"
#include "controller/queue/status/queue_funding.h"

namespace berth::queue {

struct QueueFindings {  // of all queues
  const ClusterIndex& index;
  const Survey& survey;
  const QueueFunding& funding;
  const NamesByQueue namespaces;                                 // with workloads of the queue
  const NamesByQueue lost_defaults;                              // with an older default queue
  const std::map<std::string, Cause, std::less<>> unmet_quotas;  // of namespaces
  const std::map<std::string, Cause, std::less<>> blocked_pins;
  const std::optional<Cause> paused;  // why no queue admits any workload
};

// Returns the full desired status. `differs` says whether it differs from the current one. Only
// then it has a body: there may be ten thousand queues.
StatusUpdate compute_queue_status(const Snapshot& snapshot, const GPUQueue& queue,
                                  const QueueFindings& findings);

}  // namespace berth::queue
