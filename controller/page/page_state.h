// SPDX-License-Identifier: Apache-2.0
// PageState: what the page shows, as compact JSON: nodes with what they offer and who holds it,
// queues, and what waits with its reason and its remedies.
#pragma once

#include <string>

#include "controller/core/snapshot.h"
#include "controller/dump/clues.h"

namespace berth {

// Equal snapshots give equal text.
std::string page_state(const Snapshot& snapshot, const Clues& clues);

}  // namespace berth
