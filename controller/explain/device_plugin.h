// SPDX-License-Identifier: Apache-2.0
// Why a node that has GPUs offers none: NVIDIA's device plugin crashes on it, or is not there.
#pragma once

#include <vector>

#include "controller/core/snapshot.h"
#include "controller/dump/clues.h"
#include "controller/explain/explanation.h"

namespace berth {

// Of nodes that a pod needs and that offer nothing of GPUs, or of one node that is asked about.
void note_device_plugin(const Snapshot& snapshot, const std::vector<const Node*>& nodes,
                        const Clues& clues, Explanation& out);

}  // namespace berth
