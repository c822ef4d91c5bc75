// SPDX-License-Identifier: Apache-2.0
// ClusterCopy: makes a scenario from a cluster that `berth snapshot` saved (dump/dump.h). It has
// GPU nodes with the same labels and GPUs, the same pods on them with substitutes for their
// controllers, budgets that require as many healthy pods, and the same layouts.
//
// It does not copy nodes without GPUs, NVIDIA's node components (the simulation has its own), pods
// of DaemonSets, and steps in progress: a node in a rollout starts it again.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "apis/base/result.h"
#include "controller/scenario/scenario.h"

namespace berth {

// `manifests` (JSON) are applied at the start; they replace layouts of the same name.
Result<Scenario> copy_of_cluster(std::string_view snapshot, const Settings& settings,
                                 const std::vector<std::string>& manifests);

}  // namespace berth
