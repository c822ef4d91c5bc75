// SPDX-License-Identifier: Apache-2.0
// MemoryWhy: whether the requested GPUs have enough memory for what the pod declares.
#pragma once

#include <string>
#include <vector>

#include "apis/kinds/core.h"
#include "controller/core/snapshot.h"
#include "controller/explain/explanation.h"

namespace berth {

// `nodes` are the pod's node, or nodes that it could use.
void note_memory(const Snapshot& snapshot, const Pod& pod, const std::vector<const Node*>& nodes,
                 Explanation& out);

// The same for a pod that does not exist yet: its request has too little memory on every node that
// offers it. Empty: it is enough, or some node does not report it, or no node offers it.
std::string memory_lacking(const ClusterState& cluster, const Pod& pod);

}  // namespace berth
