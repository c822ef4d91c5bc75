// SPDX-License-Identifier: Apache-2.0
// WholeStore: the caches of a berth that has just read everything.
#pragma once

#include "apis/base/time.h"
#include "controller/core/cluster_state.h"
#include "controller/sim/world/store.h"

namespace berth::explore {

void read_whole(const sim::Store& store, Time wall, ClusterState& cluster);

}  // namespace berth::explore
