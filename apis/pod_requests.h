// SPDX-License-Identifier: Apache-2.0
// What a pod asks of its node, counted from its parts as the scheduler counts it.
#pragma once

#include <string_view>
#include <vector>

#include "apis/core.h"

namespace berth {

struct InitContainer {
  ResourceList requests;
  bool sidecar = false;  // restartPolicy Always: it runs on beside the containers
};

// What a pod's parts ask for, until the whole pod is read: initContainers may stand before or after
// containers.
struct PodRequests {
  ResourceList containers;  // summed
  std::vector<InitContainer> init;
  ResourceList pod;       // spec.resources.requests
  ResourceList overhead;  // spec.overhead
};

void add(ResourceList& to, const ResourceList& more);

// As the scheduler counts (PodRequests in k8s.io/component-helpers/resource).
ResourceList compute_effective(PodRequests&& parts);

PodPhase phase_of(std::string_view text);  // empty: Pending

}  // namespace berth
