// SPDX-License-Identifier: Apache-2.0
// LoopShare: how much of the loop's time several that compute on it may take together, and whose
// turn it is. Who leads a cluster's GPUs has other things to do than to show them. Pure: it is told
// the time.
#pragma once

#include <chrono>
#include <map>

namespace berth {

class LoopShare {
 public:
  using Moment = std::chrono::nanoseconds;  // of a clock that only goes forward
  // After each turn all of them rest for `rest` times as long as it took.
  explicit LoopShare(int rest) : rest_(rest) {}

  // Whether `who` may compute now. Who may not asks again soon: they go in the order in which they
  // asked first, and who has not asked for a while no longer waits.
  bool begin(const void* who, Moment now);
  // What began then has ended now.
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
