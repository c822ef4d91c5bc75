// SPDX-License-Identifier: Apache-2.0
// explain_layout: where a MIGLayout's nodes stand, what keeps those that wait, and what would
// change that.
#pragma once

#include "controller/core/snapshot.h"
#include "controller/dump/clues.h"
#include "controller/explain/explanation.h"

namespace berth {

// `layout` is one of the snapshot's.
Explanation explain_layout(const Snapshot& snapshot, const MIGLayout& layout, const Clues& clues);

}  // namespace berth
