// SPDX-License-Identifier: Apache-2.0
// Agents: NVIDIA's mig-manager and device plugin as they are when nothing goes wrong.
#pragma once

#include "controller/core/snapshot.h"

namespace berth {

// The node once its agents have done what has become of its labels. Of nvidia.com/mig.config: state
// success and the layout's allocatable; state failed for a config that the file lacks. Of
// nvidia.com/device-plugin.config: the pool's sharing, in the labels of GPU feature discovery and
// in allocatable. Unchanged if there is nothing to do.
Node answer_of_agents(const Snapshot& snapshot, const Node& before, Node node);

}  // namespace berth
