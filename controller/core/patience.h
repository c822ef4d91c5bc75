// SPDX-License-Identifier: Apache-2.0
// Patience: when a wait is over that a person has bounded: a drain, a notice, a reclaim, a
// recovery.
#pragma once

#include <algorithm>

#include "controller/core/seeded_bugs.h"
#include "controller/core/snapshot.h"

namespace berth {

// When the patience ends that began at `start`. Only this leader's time counts: before it, perhaps
// nobody tried. While the clock is wrong no patience ends, and the caller looks again later.
inline Time patience_ends(const Snapshot& snapshot, Time start, Duration patience) {
  if (!snapshot.attention.clock_is_right()) return snapshot.now + kMaxClockSkew;
  if (seeded(SeededBug::kCountAbsence)) return start + patience;
  return std::max(start, snapshot.attention.since) + patience;
}

}  // namespace berth
