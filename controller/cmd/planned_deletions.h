// SPDX-License-Identifier: Apache-2.0
// PlannedDeletions: the objects that `berth plan --delete KIND/NAME` names.
#pragma once

#include <string>
#include <vector>

#include "apis/result.h"
#include "controller/core/cluster_state.h"
#include "controller/core/plan.h"

namespace berth {

// KIND as kubectl takes it, in any case. An error says which of them is no object of the cluster.
Result<std::vector<ObjectRef>> read_deletions(const std::vector<std::string>& texts,
                                              const ClusterState& cluster);

}  // namespace berth
