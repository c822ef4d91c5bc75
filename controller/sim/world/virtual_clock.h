// SPDX-License-Identifier: Apache-2.0
// VirtualClock: simulated time. It moves only by move_to().
#pragma once

#include <algorithm>
#include <chrono>

#include "controller/io/loop.h"

namespace berth::sim {

using WallTime = std::chrono::sys_time<std::chrono::microseconds>;

class VirtualClock {
 public:
  MonotonicTime now() const { return now_; }
  WallTime wall() const {
    return start_ + std::chrono::duration_cast<std::chrono::microseconds>(now_);
  }
  // Ignores an earlier time.
  void move_to(MonotonicTime time) { now_ = std::max(now_, time); }

 private:
  MonotonicTime now_{0};
  WallTime start_{std::chrono::sys_days(std::chrono::year(2026) / std::chrono::January / 1)};
};

}  // namespace berth::sim
