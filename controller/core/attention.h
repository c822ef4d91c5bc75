// SPDX-License-Identifier: Apache-2.0
// Attention: how long this leader has tried without a gap, and how far its clock is from the API
// server's. Patience counts no time in which nobody tried, and nothing that hangs on a deadline
// happens while the clock is wrong.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "apis/time.h"
#include "controller/core/seeded_bugs.h"

namespace berth {

// Beyond it a clock decides no deadline, no window and no period.
inline constexpr Duration kMaxClockSkew = std::chrono::minutes(5);

// For people: "berth's clock is 1h ahead of the API server's; mend the clock of that machine".
std::string describe_skew(Duration skew);

struct Attention {
  // When this leader began, or when a wrong clock was right again. The epoch offline, where all
  // time counts.
  Time since{};
  std::optional<Duration> clock_skew = {};  // this clock less the API server's; absent: not known

  bool clock_is_right() const {
    if (seeded(SeededBug::kTrustAnyClock)) return true;
    return !clock_skew || (*clock_skew <= kMaxClockSkew && *clock_skew >= -kMaxClockSkew);
  }
};

}  // namespace berth
