// SPDX-License-Identifier: Apache-2.0
// QueueHold: how berth holds a queued workload from its creation on: it suspends a Job and gates
// any other pod with gpu.berth.dev/queue. It depends only on GPUQueues, so that queues also work in
// a cluster without a GPUClusterPolicy.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "controller/admission/pod_patch.h"
#include "controller/admission/pod_slice.h"
#include "controller/admission/queue_bounds.h"
#include "controller/admission/review_findings.h"
#include "controller/core/cluster_state.h"
#include "controller/core/settings.h"

namespace berth {

struct QueueClaim {
  std::string queue;  // the queue it is in; with `unknown` it does not exist
  std::string label;  // the queue label of the workload; empty: its namespace's default
  bool unknown = false;
  bool selects = true;  // false: the named queue does not select this namespace
};

// The queue that the workload has to wait in; nullopt: none. A workload that names a queue is in
// it, and one that requests GPUs is in its namespace's default queue. Three kinds are in no queue:
// pods that the DaemonSet controller creates, pods that name a node, and pods of an admitted Job.
std::optional<QueueClaim> find_claim(const PodSlice& workload, std::string_view namespace_,
                                     const ClusterState& cluster, const Settings& settings);

// Suspends or gates the workload and labels it with its queue. It adds nothing if both are present.
void add_hold(const PodSlice& workload, const QueueClaim& claim, const QueueBounds& bounds,
              PodPatch& patch);

void check_claim(const PodSlice& workload, const QueueClaim& claim, std::string_view namespace_,
                 const ClusterState& cluster, ReviewFindings& findings);

// Checks a workload that is in no queue only because it names its node. A kubelet may do so and is
// not checked.
void check_node_unnamed(const PodSlice& workload, std::string_view namespace_,
                        const ClusterState& cluster, ReviewFindings& findings);

// Refuses a workload in no queue, where the policy requires a queue for every GPU request.
void check_queue_named(const PodSlice& workload, ReviewFindings& findings);

// Suspends a pending Job again if a user resumes it.
void keep_suspended(const PodSlice& old, const PodSlice& now, const QueueClaim& claim,
                    PodPatch& patch, ReviewFindings& findings);
// An admitted Job may only shrink. No queue is charged for further pods, and berth has published
// start times for other workloads that rely on its deadline.
void check_growth(const PodSlice& old, const PodSlice& now, ReviewFindings& findings);
// Refuses to remove the queue label: without it no queue would hold the Job.
void check_label_kept(const PodSlice& old, const PodSlice& now, ReviewFindings& findings);

}  // namespace berth
