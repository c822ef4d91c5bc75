// SPDX-License-Identifier: Apache-2.0
// The scheduler's words about a pod that it could not place, "0/3 nodes are available: …", as
// fields of that pod: all that somebody has who may see the pod and no node.
#pragma once

#include "controller/dump/clues.h"
#include "controller/explain/explanation.h"

namespace berth {

// Facts of topic "field", each with the field at fault.
void note_scheduler_fields(const Pod& pod, const PodClues& clues, Explanation& out);

// What is wrong with the pod whatever the nodes are. True: it can't be placed as it is.
bool note_own_faults(const Pod& pod, const PodClues* clues, Explanation& out);

// "spec.containers[0].resources.limits[nvidia.com/gpu]", of the first container that asks for it.
std::string field_of(const PodClues* clues, std::string_view resource);

}  // namespace berth
