// SPDX-License-Identifier: Apache-2.0
// TokenBucket: `burst` at once, then so many a second. Pure: it is told the time.
//
// A token may be taken before it is there. take() says how long to wait for it, so that those who
// wait go in the order in which they came.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>

#include "controller/io/loop.h"

namespace berth {

class TokenBucket {
 public:
  // Both greater than zero.
  TokenBucket(double per_second, int burst)
      : interval_(static_cast<std::int64_t>(1e9 / per_second)), depth_(interval_ * burst) {}

  std::chrono::nanoseconds take(MonotonicTime now) {
    const std::chrono::nanoseconds wait = wait_at(now);
    full_at_ = std::max(full_at_, now) + interval_;
    return wait;
  }
  // Nothing, and no token taken, if it would be there only after `at_most`.
  std::optional<std::chrono::nanoseconds> take_within(std::chrono::nanoseconds at_most,
                                                      MonotonicTime now) {
    if (wait_at(now) > at_most) return std::nullopt;
    return take(now);
  }

 private:
  std::chrono::nanoseconds wait_at(MonotonicTime now) const {
    return std::max(std::max(full_at_, now) + interval_ - now - depth_,
                    std::chrono::nanoseconds(0));
  }

  std::chrono::nanoseconds interval_;
  std::chrono::nanoseconds depth_;            // from empty to full
  MonotonicTime full_at_ = MonotonicTime(0);  // when it is full again, if nobody takes any more
};

}  // namespace berth
