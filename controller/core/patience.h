// SPDX-License-Identifier: Apache-2.0
// Patience: when a wait with a user's time limit is over: a drain, a notice, a reclaim, a recovery.
#pragma once

#include <algorithm>

#include "controller/core/seeded_bugs.h"
#include "controller/core/snapshot.h"

namespace berth {

// The end of the wait that started at `start`. Only this leader's time counts, because berth may
// not have tried before it. While the clock is wrong no wait ends: the result is then in the
// future, and the caller computes it again later.
inline Time patience_ends(const Snapshot& snapshot, Time start, Duration patience) {
  if (!snapshot.attention.clock_is_right()) return snapshot.now + kMaxClockSkew;
  if (seeded(SeededBug::kCountAbsence)) return start + patience;
  return std::max(start, snapshot.attention.since) + patience;
}

}  // namespace berth
