// SPDX-License-Identifier: Apache-2.0
// The GPUClusterPolicy as a change of its object leaves it.
#pragma once

#include <optional>

#include "apis/kinds/gpu_cluster_policy.h"
#include "controller/sim/world/store.h"

namespace berth::explore {

// Nothing if it is deleted, or cannot be read.
std::optional<GPUClusterPolicy> policy_after(const sim::Change& change);

}  // namespace berth::explore
