// SPDX-License-Identifier: Apache-2.0
// DevicePlugin: why a node with GPUs offers none: NVIDIA's device plugin crashes there or is
// missing.
#pragma once

#include <vector>

#include "controller/core/snapshot.h"
#include "controller/dump/clues.h"
#include "controller/explain/explanation.h"

namespace berth {

// For nodes that a pod needs and that offer no GPUs, or for the one node in question.
void note_device_plugin(const Snapshot& snapshot, const std::vector<const Node*>& nodes,
                        const Clues& clues, Explanation& out);

}  // namespace berth
