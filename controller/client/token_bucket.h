// SPDX-License-Identifier: Apache-2.0
// TokenBucket: `burst` requests at once, then a fixed rate. Pure: the caller passes the time.
//
// A caller may take a token in advance. take() returns how long to wait for it, so that callers are
// served in the order in which they came.
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
  // nullopt, without taking a token, if the wait would be longer than `at_most`.
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
  std::chrono::nanoseconds depth_;            // time from empty to full
  MonotonicTime full_at_ = MonotonicTime(0);  // when it is full again without further calls
};

}  // namespace berth
