// SPDX-License-Identifier: Apache-2.0
// FloodGate: lets so many lines of one sort into the log, and counts the others. Whoever asks berth
// a million times must not fill the node's disk with the answers. Pure: it is told the time.
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

  // How many were held back since the last that passed; nothing: this one is held back, too.
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
