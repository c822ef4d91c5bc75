// SPDX-License-Identifier: Apache-2.0
// PodReview: a pod of a managed namespace and everything that its review reads. On the mutate path
// berth repairs the pod (repairs.cc) and refuses what the server's own validation would refuse with
// a less helpful message. All other refusals (refusals.cc) come on the validate path, when the
// other webhooks have changed the pod.
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

// Missing fields that berth can add without guessing. For a pod that already has these repairs, and
// for a pod that is bound to a node, the patch is empty.
PodPatch compute_repairs(const PodReview& review, ReviewFindings& findings);

// Resource amounts that the server refuses too; berth's message is more helpful.
void check_amounts(const PodSlice& pod, ReviewFindings& findings);
// All other rules, for a pod that requests a GPU.
void check_pod(const PodReview& review, ReviewFindings& findings);
// Warns if the nodes' drivers are too old for the CUDA version of the containers.
void check_cuda(const PodReview& review, ReviewFindings& findings);
// Warns if the GPUs have less memory than the pod says it needs.
void check_memory(const PodReview& review, ReviewFindings& findings);
// Ways around the device plugin (device_access.cc). Pods without a GPU request can take them too.
void check_device_access(const PodSlice& pod, ReviewFindings& findings);
// The same checks for ephemeral containers that are added to a running pod.
void check_debugging(const PodSlice& pod, ReviewFindings& findings);

// Whether several processes will train in the container with too small a /dev/shm.
bool wants_shared_memory(const ContainerSlice& container);
// A size in a binary unit, for example 8Gi.
std::string in_binary(const Quantity& size);

}  // namespace berth
