// SPDX-License-Identifier: Apache-2.0
// Unpinning: the webhook takes the nodes of an admission out of a pod's required node affinity.
#pragma once

#include "controller/admission/pod_patch.h"
#include "controller/admission/pod_slice.h"
#include "controller/core/cluster_state.h"
#include "controller/queue/facts/facts.h"

namespace berth {

// Removes what pins the workload to the nodes of the record, from the slice and by the patch.
void unpin(PodSlice& workload, const queue::AdmissionFact& record, PodPatch& patch);

// The same for a pod that a running Job creates while one of the nodes that the Job was admitted to
// is out of service: the pod would wait for that node. kube-scheduler chooses its node instead,
// within the pool. A pod that has to share a topology domain with others keeps its pin.
void unpin_from_lost_nodes(PodSlice& pod, const ClusterState& cluster, PodPatch& patch);

}  // namespace berth
