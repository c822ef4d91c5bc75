// SPDX-License-Identifier: Apache-2.0
// InHand: the nodes that berth has already taken out of service, from a snapshot.
#pragma once

#include <vector>

#include "controller/core/snapshot.h"
#include "controller/preview/projection.h"

namespace berth {

// By name; their outcomes are still open.
std::vector<NodeChange> nodes_in_hand(const Snapshot& snapshot);
// For a node whose outcome is open at the end: adds why.
void note_what_holds(const Snapshot& snapshot, NodeChange& change);

}  // namespace berth
