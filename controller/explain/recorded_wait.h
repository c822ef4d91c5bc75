// SPDX-License-Identifier: Apache-2.0
// RecordedWait: why a workload waits, as berth's controller has recorded it: in the status of its
// GPUQueue, and in annotation gpu.berth.dev/pending-reason on its objects. It is the answer for an
// account that may not read what a cycle of the queues needs.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "apis/kinds/gpu_queue.h"
#include "apis/kinds/meta.h"
#include "controller/core/cluster_state.h"

namespace berth {

struct RecordedWait {
  std::string reason;         // WaitingForQuota, …
  std::string message;        // with the numbers; an annotation's message includes its time
  std::int64_t position = 0;  // in the queue, from 1; 0: the status does not list the workload
  std::int64_t waiting = 0;   // workloads in the queue
  std::optional<Time> earliest, latest;  // of its expected start
};

// `workload` is for example "Job/NAMESPACE/NAME"; `meta` belongs to its Job or to one of its pods.
// `queue` is null if this account may not read it. nullopt: no readable reason is recorded.
std::optional<RecordedWait> recorded_wait(const GPUQueue* queue, std::string_view workload,
                                          const ObjectMeta& meta);

// The queue whose status lists the workload, if exactly one does.
const GPUQueue* queue_listing(const ClusterState& cluster, std::string_view workload);

// The message of a reason without the clause that names workloads in namespaces that the account
// does not see. Empty if nothing is left, or if such workloads can't be recognized by name.
std::string words_for(std::string_view reason, std::string message,
                      const std::function<bool(std::string_view namespace_)>& sees);

// "place 3 of 5"; empty if the status does not list the workload.
std::string place_in_queue(const RecordedWait& wait);
// "it begins between … and …": empty where the status says no time.
std::string expected_start(const RecordedWait& wait, Time now);

}  // namespace berth
