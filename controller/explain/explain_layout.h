// SPDX-License-Identifier: Apache-2.0
// explain_layout: the state of a MIGLayout's nodes, why some wait, and what would change that.
#pragma once

#include "controller/core/snapshot.h"
#include "controller/dump/clues.h"
#include "controller/explain/explanation.h"

namespace berth {

// `layout` must be in the snapshot.
Explanation explain_layout(const Snapshot& snapshot, const MIGLayout& layout, const Clues& clues);

}  // namespace berth
