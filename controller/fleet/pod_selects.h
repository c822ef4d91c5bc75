// SPDX-License-Identifier: Apache-2.0
// Where a pod may run by what it says of nodes; whether there is room is not asked.
#pragma once

#include "apis/core.h"

namespace berth {

// By its nodeSelector and its required node affinity.
bool selects(const Pod& pod, const Node& node);
// No taint of the node's keeps it away.
bool tolerates_taints(const Pod& pod, const Node& node);
// A cordon does not keep it away: the scheduler would bind it to the node all the same.
bool tolerates_cordon(const Pod& pod);

}  // namespace berth
