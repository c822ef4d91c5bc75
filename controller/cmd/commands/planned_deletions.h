// SPDX-License-Identifier: Apache-2.0
// PlannedDeletions: the objects of `berth plan --delete KIND/NAME`.
#pragma once

#include <string>
#include <vector>

#include "apis/base/result.h"
#include "controller/core/cluster_state.h"
#include "controller/core/plan.h"

namespace berth {

// KIND in kubectl's forms, case ignored. An error names texts that match no object.
Result<std::vector<ObjectRef>> read_deletions(const std::vector<std::string>& texts,
                                              const ClusterState& cluster);

}  // namespace berth
