// SPDX-License-Identifier: Apache-2.0
// What a pod asks of its node, counted from its parts as the scheduler counts it.
#pragma once

#include <optional>
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

// A pod's condition Ready, as far as it is read.
struct ReadyCondition {
  bool is_true = false;
  std::optional<Time> changed;
};
// The kubelet writes the first one together with startTime: one that changed later has been True.
bool has_been_ready(const ReadyCondition& ready, const std::optional<Time>& started);

// A pod's spec, or a template's, until all of it is read. Of a field that stands there twice the
// last one counts, so that each of the marks is its own list's.
struct PodSpecParts {
  bool of_template = false;  // set before it is read
  Text node_name;
  Text priority_class_name;  // read of templates, of which it is the only priority
  std::int64_t termination_grace_period_seconds = 30;
  bool has_empty_dir = false;
  bool never_restarts = false;
  PodRequests requests;
  PodShape::Fields shape;  // but for its requests and what is unmodelled
  bool host_ports = false, init_host_ports = false;
  bool bound_volumes = false;
  bool pod_affinity = false;
  bool topology_spread = false;
  bool resource_claims = false;
};
PodShape shape_of(PodSpecParts&& parts);

// Whether volumes from this source, by its name in JSON, are bound to a zone, or only so many of
// them fit on a node.
bool binds_to_nodes(std::string_view volume_source);

}  // namespace berth
