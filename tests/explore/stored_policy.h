// SPDX-License-Identifier: Apache-2.0
// The GPUClusterPolicy after a change of its object.
#pragma once

#include <optional>

#include "apis/kinds/gpu_cluster_policy.h"
#include "controller/sim/world/store.h"

namespace berth::explore {

// nullopt if it is deleted or can't be read.
std::optional<GPUClusterPolicy> policy_after(const sim::Change& change);

}  // namespace berth::explore
