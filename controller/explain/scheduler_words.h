// SPDX-License-Identifier: Apache-2.0
// SchedulerWords: translates the scheduler's message about a pending pod, "0/3 nodes are available:
// …", into fields of that pod. It is the only source for users who may read the pod but no nodes.
#pragma once

#include "controller/dump/clues.h"
#include "controller/explain/explanation.h"

namespace berth {

// Adds facts of topic "field", each with the field that causes it.
void note_scheduler_fields(const Pod& pod, const PodClues& clues, Explanation& out);

// Errors of the pod that do not depend on nodes. True: no node can take it as it is.
bool note_own_faults(const Pod& pod, const PodClues* clues, Explanation& out);

// "spec.containers[0].resources.limits[nvidia.com/gpu]": the first container that requests it.
std::string field_of(const PodClues* clues, std::string_view resource);

}  // namespace berth
