// SPDX-License-Identifier: Apache-2.0
// note_pool: which pool a node belongs to and why, and what berth has put there for it.
#pragma once

#include "controller/core/snapshot.h"
#include "controller/explain/explanation.h"

namespace berth {

void note_pool(const Snapshot& snapshot, const Node& node, Explanation& out);

}  // namespace berth
