// SPDX-License-Identifier: Apache-2.0
// note_pool: a node's pool and why it applies, and what berth has written for it.
#pragma once

#include "controller/core/snapshot.h"
#include "controller/explain/explanation.h"

namespace berth {

void note_pool(const Snapshot& snapshot, const Node& node, Explanation& out);

}  // namespace berth
