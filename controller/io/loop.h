// SPDX-License-Identifier: Apache-2.0
// Loop: the only thread of control. Every wake-up (a reply, a timer, a finished task) goes through
// post(), one FIFO queue. berth therefore acts on facts in the order of their arrival, and a
// simulation only chooses what is posted next.
//
// Loop thread only, except where a member says otherwise. No callback runs inside the call that
// started it.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>

namespace berth {

// Monotonic, from an arbitrary origin. Measures spans inside one process; never written to the
// cluster.
using MonotonicTime = std::chrono::nanoseconds;

class Loop {
 public:
  using TimerId = std::uint64_t;  // 0 is no timer
  virtual ~Loop() = default;

  virtual MonotonicTime now() const = 0;
  // UTC. For timestamps and schedules that users read, never to measure a span.
  virtual std::chrono::sys_time<std::chrono::microseconds> wall_now() const = 0;

  // Runs `work` after everything already posted, never inline.
  virtual void post(std::function<void()> work) = 0;
  // Posts `work` after `delay`. After cancel() the work never begins, even if it was already
  // posted: a caller of cancel() may free what the work uses. Once the work has begun, cancel() is
  // a no-op.
  virtual TimerId call_after(std::chrono::nanoseconds delay, std::function<void()> work) = 0;
  virtual void cancel(TimerId timer) = 0;
};

}  // namespace berth
