// SPDX-License-Identifier: Apache-2.0
// The Jobs and Pods among a plan's manifests: decoded, and set against the cluster.
#pragma once

#include <string_view>
#include <vector>

#include "controller/cmd/manifest_files.h"
#include "controller/core/cluster_state.h"
#include "controller/preview/given_workload.h"

namespace berth {

struct PlannedWorkloads {
  std::vector<GivenWorkload> workloads;
  std::vector<Finding> findings;  // what is wrong in them
  // Those that are in the cluster already: they are left out. What is too small for what it loads.
  std::vector<Finding> notes;
};

// `namespace_` is that of those that name none.
PlannedWorkloads plan_workloads(const std::vector<WorkloadInFile>& files,
                                const ClusterState& cluster, std::string_view namespace_);

}  // namespace berth
