// SPDX-License-Identifier: Apache-2.0
// Whether what a pod asks for has room for what it says it loads into GPUs.
#pragma once

#include <string>
#include <vector>

#include "apis/core.h"
#include "controller/core/snapshot.h"
#include "controller/explain/explanation.h"

namespace berth {

// `nodes`: where it is, or where it might go.
void note_memory(const Snapshot& snapshot, const Pod& pod, const std::vector<const Node*>& nodes,
                 Explanation& out);

// The same of one that is yet to be made: it is too small on each node that offers what it asks
// for. Empty: it is not, or one of them doesn't tell, or there is none.
std::string memory_lacking(const ClusterState& cluster, const Pod& pod);

}  // namespace berth
