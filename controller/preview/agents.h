// SPDX-License-Identifier: Apache-2.0
// Agents: NVIDIA's mig-manager and device plugin as they are when nothing goes wrong.
#pragma once

#include "controller/core/snapshot.h"

namespace berth {

// The node once its agents have done what label nvidia.com/mig.config says: state success and the
// layout's allocatable; state failed for a config that the file lacks. Unchanged if there is
// nothing to do.
Node answer_of_agents(const Snapshot& snapshot, Node node);

}  // namespace berth
