// SPDX-License-Identifier: Apache-2.0
// ServerClock: what time it is, by this machine's clock and the API server's together. Each reply
// has a Date. While the two clocks agree, this machine's counts. While they do not, time goes on
// steadily from when they last did, so no jump of a clock makes anything happen.
//
// Loop thread only.
#pragma once

#include <optional>
#include <string_view>

#include "apis/time.h"
#include "controller/io/loop.h"

namespace berth {

class ServerClock {
 public:
  // Clocks that differ by no more than the tolerance agree.
  ServerClock(const Loop& loop, Duration tolerance) : loop_(loop), tolerance_(tolerance) {}

  // The Date header of a reply that has just come. One that is no date says nothing.
  void hear(std::string_view date);
  // This machine's clock less the API server's, to a second; absent: no reply had a date.
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
  std::optional<Moment> server_;  // its last date
  std::optional<Moment> agreed_;  // when the two last did
};

}  // namespace berth
