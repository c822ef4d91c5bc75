// SPDX-License-Identifier: Apache-2.0
// PodRequests: what a pod requests from its node, computed from its parts in the same way as the
// scheduler does.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "apis/kinds/core.h"

namespace berth {

struct InitContainer {
  ResourceList requests;
  bool sidecar = false;  // restartPolicy Always: it keeps running beside the containers
};

// The requests of a pod's parts, until the whole pod has been read: initContainers may come before
// or after containers.
struct PodRequests {
  ResourceList containers;  // summed
  std::vector<InitContainer> init;
  ResourceList pod;       // spec.resources.requests
  ResourceList overhead;  // spec.overhead
};

void add(ResourceList& to, const ResourceList& more);

// The scheduler's formula (PodRequests in k8s.io/component-helpers/resource).
ResourceList compute_effective(PodRequests&& parts);

PodPhase phase_of(std::string_view text);  // empty: Pending

// The fields of a pod's condition Ready that berth reads.
struct ReadyCondition {
  bool is_true = false;
  std::optional<Time> changed;
};
// The kubelet first sets the condition together with startTime. If it changed later, it was True
// once.
bool has_been_ready(const ReadyCondition& ready, const std::optional<Time>& started);

// A pod's or a template's spec, until all of it has been read. For a duplicate field the last one
// counts, so each mark belongs to one list.
struct PodSpecParts {
  bool of_template = false;  // set it before reading
  Text node_name;
  Text priority_class_name;  // only read from templates, which have no priority value
  std::int64_t termination_grace_period_seconds = 30;
  bool has_empty_dir = false;
  bool never_restarts = false;
  PodRequests requests;
  PodShape::Fields shape;  // without requests and `unmodelled`
  bool host_ports = false, init_host_ports = false;
  bool bound_volumes = false;
  bool pod_affinity = false;
  bool topology_spread = false;
  bool resource_claims = false;
};
PodShape shape_of(PodSpecParts&& parts);

// Whether volumes of this source (named as in JSON) are bound to a zone or limited per node.
bool binds_to_nodes(std::string_view volume_source);

}  // namespace berth
