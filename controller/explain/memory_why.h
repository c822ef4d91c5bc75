// SPDX-License-Identifier: Apache-2.0
// Whether what a pod asks for has room for what it says it loads into GPUs.
#pragma once

#include <vector>

#include "apis/core.h"
#include "controller/core/snapshot.h"
#include "controller/explain/explanation.h"

namespace berth {

// `nodes`: where it is, or where it might go.
void note_memory(const Snapshot& snapshot, const Pod& pod, const std::vector<const Node*>& nodes,
                 Explanation& out);

}  // namespace berth
