// SPDX-License-Identifier: Apache-2.0
// FloodGate: limits how many lines of one kind go to the log, and counts the others. A client that
// sends a million requests must not fill the node's disk. Pure: the caller passes the time.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <utility>

#include "controller/client/token_bucket.h"

namespace berth {

class FloodGate {
 public:
  FloodGate(double per_second, int burst) : bucket_(per_second, burst) {}

  // The number of lines dropped since the last one that passed; nullopt: drop this line, too.
  std::optional<std::int64_t> pass(MonotonicTime now) {
    if (bucket_.take_within(std::chrono::nanoseconds(0), now)) return std::exchange(held_, 0);
    ++held_;
    return std::nullopt;
  }

 private:
  TokenBucket bucket_;
  std::int64_t held_ = 0;
};

}  // namespace berth
