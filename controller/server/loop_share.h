// SPDX-License-Identifier: Apache-2.0
// LoopShare: limits the loop time that several computations take together, and decides whose turn
// it is. The leader must manage GPUs before it shows them. Pure: the caller passes the time.
#pragma once

#include <chrono>
#include <map>

namespace berth {

class LoopShare {
 public:
  using Moment = std::chrono::nanoseconds;  // from a monotonic clock
  // After each turn all of them rest for `rest` times the turn's duration.
  explicit LoopShare(int rest) : rest_(rest) {}

  // Whether `who` may compute now. If not, `who` should ask again soon. Turns go in the order of
  // the first request. A caller that has not asked for a while loses its turn.
  bool begin(const void* who, Moment now);
  // The computation that started at `began` has ended.
  void end(Moment began, Moment now);

 private:
  struct Wait {
    Moment first, last;
  };
  const int rest_;
  std::map<const void*, Wait> waiting_;
  Moment next_{0};
};

}  // namespace berth
