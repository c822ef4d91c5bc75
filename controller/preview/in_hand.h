// SPDX-License-Identifier: Apache-2.0
// InHand: the nodes that berth has taken already, read off a snapshot.
#pragma once

#include <vector>

#include "controller/core/snapshot.h"
#include "controller/preview/projection.h"

namespace berth {

// By name, with the outcome still open.
std::vector<NodeChange> nodes_in_hand(const Snapshot& snapshot);
// Of one whose outcome is open at the end: why.
void note_what_holds(const Snapshot& snapshot, NodeChange& change);

}  // namespace berth
