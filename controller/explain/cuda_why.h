// SPDX-License-Identifier: Apache-2.0
// CudaWhy: whether the drivers of nodes can run the CUDA version that a pod's containers need.
#pragma once

#include <vector>

#include "apis/kinds/core.h"
#include "controller/dump/clues.h"
#include "controller/explain/explanation.h"

namespace berth {

// `nodes` are the pod's node, or nodes that it could use.
void note_cuda(const Pod& pod, const PodClues* clues, const std::vector<const Node*>& nodes,
               Explanation& out);

}  // namespace berth
