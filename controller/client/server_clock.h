// SPDX-License-Identifier: Apache-2.0
// ServerClock: the time, from this machine's clock and the API server's. Each reply has a Date.
// While the two clocks agree, this machine's clock counts. When they disagree, the time continues
// steadily from the last agreement, so that a jump of a clock has no effect.
//
// Loop thread only.
#pragma once

#include <optional>
#include <string_view>

#include "apis/base/time.h"
#include "controller/io/loop.h"

namespace berth {

class ServerClock {
 public:
  // Clocks agree if they differ by at most the tolerance.
  ServerClock(const Loop& loop, Duration tolerance) : loop_(loop), tolerance_(tolerance) {}

  // Call it with the Date header of each reply at once. It ignores an invalid date.
  void hear(std::string_view date);
  // This machine's clock minus the API server's, to a second; absent: no reply had a date.
  std::optional<Duration> skew() const;
  // UTC. If this clock never agreed with the API server's, berth uses the API server's.
  Time now();

 private:
  struct Moment {
    MonotonicTime at;
    Time time;
  };
  const Loop& loop_;
  const Duration tolerance_;
  std::optional<Moment> server_;  // the last date of a reply
  std::optional<Moment> agreed_;  // when the clocks last agreed
};

}  // namespace berth
