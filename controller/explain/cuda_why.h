// SPDX-License-Identifier: Apache-2.0
// Whether the drivers of nodes can run what a pod's containers were built for.
#pragma once

#include <vector>

#include "apis/core.h"
#include "controller/dump/clues.h"
#include "controller/explain/explanation.h"

namespace berth {

// `nodes`: where it is, or where it might go.
void note_cuda(const Pod& pod, const PodClues* clues, const std::vector<const Node*>& nodes,
               Explanation& out);

}  // namespace berth
