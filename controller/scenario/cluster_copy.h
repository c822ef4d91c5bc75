// SPDX-License-Identifier: Apache-2.0
// ClusterCopy: a cluster as `berth snapshot` saved it (preview/dump.h), made into a scenario: GPU
// nodes with the same labels and GPUs, the same pods on them under stand-ins for their controllers,
// budgets that need as many healthy pods, the same layouts.
//
// Not copied: nodes without GPUs, the agents themselves (the simulation has its own), pods of
// DaemonSets, and what is under way: a node that is out for a rollout begins anew.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "apis/result.h"
#include "controller/scenario/scenario.h"

namespace berth {

// `manifests` are applied at the beginning, as JSON; layouts of the same name give way to them.
Result<Scenario> copy_of_cluster(std::string_view snapshot, const Settings& settings,
                                 const std::vector<std::string>& manifests);

}  // namespace berth
