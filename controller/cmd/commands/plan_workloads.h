// SPDX-License-Identifier: Apache-2.0
// PlanWorkloads: the Jobs and Pods among a plan's manifests, decoded and compared with the cluster.
#pragma once

#include <string_view>
#include <vector>

#include "controller/cmd/input/manifest_files.h"
#include "controller/core/cluster_state.h"
#include "controller/preview/given_workload.h"

namespace berth {

struct PlannedWorkloads {
  std::vector<GivenWorkload> workloads;
  std::vector<Finding> findings;  // errors in them
  // Workloads that are already in the cluster, which are left out, and requests with too little
  // memory.
  std::vector<Finding> notes;
};

// `namespace_` is for workloads without one.
PlannedWorkloads plan_workloads(const std::vector<WorkloadInFile>& files,
                                const ClusterState& cluster, std::string_view namespace_);

}  // namespace berth
