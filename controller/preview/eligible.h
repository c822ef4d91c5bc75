// SPDX-License-Identifier: Apache-2.0
// Eligible: whether pods of a namespace may use a pool.
#pragma once

#include <string_view>

#include "apis/kinds/gpu_cluster_policy.h"
#include "controller/core/cluster_state.h"

namespace berth {

// True if it is unknown.
bool eligible(const ClusterState& cluster, const PoolSpec& pool, std::string_view namespace_);

}  // namespace berth
