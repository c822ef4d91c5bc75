// SPDX-License-Identifier: Apache-2.0
// Attention: how long this leader has tried without a gap, and how far its clock is from the API
// server's. Patience counts no time in which nobody tried, and nothing that hangs on a deadline
// happens while the clock is wrong.
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>

#include "apis/time.h"

namespace berth {

// Beyond it a clock decides no deadline, no window and no period.
inline constexpr Duration kMaxClockSkew = std::chrono::minutes(5);

struct Attention {
  // When this leader began, or when the API server last answered after a gap; the epoch offline,
  // where all time counts.
  Time since{};
  std::optional<Duration> clock_skew = {};  // this clock less the API server's; absent: not known

  // When the patience ends that began at `start`: it counts from `since` at the earliest.
  Time patience_ends(Time start, Duration patience) const {
    return std::max(start, since) + patience;
  }
  bool clock_is_right() const {
    return !clock_skew || (*clock_skew <= kMaxClockSkew && *clock_skew >= -kMaxClockSkew);
  }
};

}  // namespace berth
