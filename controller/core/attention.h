// SPDX-License-Identifier: Apache-2.0
// Attention: since when this leader has been working without a gap, and how far its clock is from
// the API server's. A timeout set by a user counts only this leader's time. While the clock is
// wrong, berth does nothing that depends on a deadline.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "apis/base/time.h"
#include "controller/core/seeded_bugs.h"

namespace berth {

// If the clock is off by more than this, it decides no deadline, no window and no period.
inline constexpr Duration kMaxClockSkew = std::chrono::minutes(5);

// For users: "berth's clock is 1h ahead of the API server's; mend the clock of that machine".
std::string describe_skew(Duration skew);

struct Attention {
  // When this leader started, or when its clock became right again. The epoch in offline runs,
  // where all time counts.
  Time since{};
  std::optional<Duration> clock_skew = {};  // this clock minus the API server's; absent: unknown

  bool clock_is_right() const {
    if (seeded(SeededBug::kTrustAnyClock)) return true;
    return !clock_skew || (*clock_skew <= kMaxClockSkew && *clock_skew >= -kMaxClockSkew);
  }
};

}  // namespace berth
