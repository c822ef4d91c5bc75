// SPDX-License-Identifier: Apache-2.0
// Project: runs the controller's own reconcilers on a copy of the cluster, as if every step
// succeeded at once, until nothing is left to do. For queues it runs one cycle. If only queues and
// workloads are given, no node changes, and the rest of the projection is empty.
#pragma once

#include <string_view>
#include <vector>

#include "controller/core/cluster_state.h"
#include "controller/core/plan.h"
#include "controller/core/settings.h"
#include "controller/core/time_zones.h"
#include "controller/preview/given_workload.h"
#include "controller/preview/projection.h"

namespace berth {

// The manifests to apply first. An existing object of the same name keeps its identity.
struct Given {
  std::vector<MIGLayout> layouts;
  std::vector<GPUClusterPolicy> policies;
  std::vector<GPUQueue> queues;
  std::vector<GivenWorkload> workloads;
  std::vector<ObjectRef> deletions = {};  // existing layouts, policy and queues to delete

  bool about_queues() const;
  bool deletes(std::string_view kind) const;
};

// `now` is the time of the cluster's state.
Projection project(const ClusterState& cluster, const Given& given, const Settings& settings,
                   Time now, const TimeZones& zones = utc_only());

}  // namespace berth
