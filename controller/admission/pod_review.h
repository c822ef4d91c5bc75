// SPDX-License-Identifier: Apache-2.0
// PodReview: a pod of a managed namespace and all that it is judged by. On the mutate path it is
// repaired (repairs.cc); what can't be repaired is refused (refusals.cc): before the server's own
// validation what that would refuse in fewer words, the rest on the validate path, when every other
// webhook is done with the pod.
#pragma once

#include <string>
#include <vector>

#include "controller/admission/pod_patch.h"
#include "controller/admission/pool_choice.h"
#include "controller/admission/review_findings.h"
#include "controller/core/cluster_state.h"

namespace berth {

struct PodReview {
  PodReview(const PodSlice& pod, const GPUClusterPolicy& policy, const Namespace& namespace_,
            const ClusterState& cluster);

  const PodSlice& pod;
  const GPUClusterPolicy& policy;
  const Namespace& namespace_;
  const ClusterState& cluster;
  const GpuOffers& offers;
  Placement placement;
  PoolChoice pools;
};

// What is missing and can be added without guessing. Applied to the pod and asked for again, it is
// empty. Empty too for a pod that is bound already.
PodPatch compute_repairs(const PodReview& review, ReviewFindings& findings);

// Counts that the server itself refuses, in better words.
void check_amounts(const PodSlice& pod, ReviewFindings& findings);
// Everything else, for a pod that asks for a GPU.
void check_pod(const PodReview& review, ReviewFindings& findings);
// Drivers that are too old for what its containers were built for.
void check_cuda(const PodReview& review, ReviewFindings& findings);
// GPUs that are too small for what it says it loads.
void check_memory(const PodReview& review, ReviewFindings& findings);
// Ways around the device plugin, which pods that ask for no GPU take too (device_access.cc).
void check_device_access(const PodSlice& pod, ReviewFindings& findings);
// The same of containers that are added to a pod that runs.
void check_debugging(const PodSlice& pod, ReviewFindings& findings);

// Whether several processes will train in the container and find no /dev/shm to speak of.
bool wants_shared_memory(const ContainerSlice& container);
// A size as people write it: 8Gi.
std::string in_binary(const Quantity& size);

}  // namespace berth
