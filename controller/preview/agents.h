// SPDX-License-Identifier: Apache-2.0
// Agents: NVIDIA's mig-manager and device plugin, as they work without faults.
#pragma once

#include "controller/core/snapshot.h"

namespace berth {

// The node after its node components have acted on its labels. For nvidia.com/mig.config: state
// success and the layout's allocatable, or state failed if the file lacks the config. For
// nvidia.com/device-plugin.config: the pool's sharing, in the labels of GPU feature discovery and
// in allocatable. Unchanged if there is nothing to do.
Node answer_of_agents(const Snapshot& snapshot, const Node& before, Node node);

}  // namespace berth
