// SPDX-License-Identifier: Apache-2.0
// QueueHold: how what belongs to a queue is held back from the moment it is made. A Job by
// `suspend`, every other pod by the gate gpu.berth.dev/queue. It hangs on GPUQueues alone: a
// cluster without a GPUClusterPolicy has queues all the same.
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
  std::string queue;  // the queue it is in; with `unknown` one that does not exist
  std::string label;  // what it says itself, empty: it is its namespace's default
  bool unknown = false;
  bool selects = true;  // false: the queue that it names is not for its namespace
};

// Whose turn the workload has to wait for; nothing if no queue is for it. What names a queue is in
// one, and what asks for GPUs is in its namespace's default; never pods that a DaemonSet's
// controller asks for, those that have a node, and those of a Job that berth has let go.
std::optional<QueueClaim> find_claim(const PodSlice& workload, std::string_view namespace_,
                                     const ClusterState& cluster, const Settings& settings);

// Holds it back, and labels it with its queue. Applied and asked for again it adds nothing.
void add_hold(const PodSlice& workload, const QueueClaim& claim, const QueueBounds& bounds,
              PodPatch& patch);

void check_claim(const PodSlice& workload, const QueueClaim& claim, std::string_view namespace_,
                 const ClusterState& cluster, ReviewFindings& findings);

// Of a workload that is in no queue because it names its node: whether it would be in one else. A
// kubelet, who may, is not asked about.
void check_node_unnamed(const PodSlice& workload, std::string_view namespace_,
                        const ClusterState& cluster, ReviewFindings& findings);

// Where the policy wants all that asks for GPUs to be in a queue: of a workload that is in none.
void check_queue_named(const PodSlice& workload, ReviewFindings& findings);

// A Job that waits and that somebody resumes waits on.
void keep_suspended(const PodSlice& old, const PodSlice& now, const QueueClaim& claim,
                    PodPatch& patch, ReviewFindings& findings);
// An admitted Job may only shrink: no queue is charged for further pods, and berth has told other
// workloads a start that counts on the deadline.
void check_growth(const PodSlice& old, const PodSlice& now, ReviewFindings& findings);
// Without its label no queue would hold the Job any more.
void check_label_kept(const PodSlice& old, const PodSlice& now, ReviewFindings& findings);

}  // namespace berth
