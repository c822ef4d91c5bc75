// SPDX-License-Identifier: Apache-2.0
// Loop: the one thread of control. Every wake-up (a reply, a timer, a finished task) goes through
// post(), one FIFO queue, so the order in which facts arrive is the order in which they are acted
// on, and a simulation need only choose what is posted next.
//
// Loop thread only, except where a member says otherwise. Nothing calls back from inside the call
// that started it.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>

namespace berth {

// Monotonic, from an arbitrary origin: measures spans inside one process. Never written to the
// cluster.
using MonotonicTime = std::chrono::nanoseconds;

class Loop {
 public:
  using TimerId = std::uint64_t;  // 0 is no timer
  virtual ~Loop() = default;

  virtual MonotonicTime now() const = 0;
  // UTC. For stamps and schedules that people read, never for measuring a span.
  virtual std::chrono::sys_time<std::chrono::microseconds> wall_now() const = 0;

  // Runs `work` after everything already posted, never inline.
  virtual void post(std::function<void()> work) = 0;
  // Posts `work` once `delay` has passed. After cancel() it never begins, even if it has been
  // posted already: whoever cancels a timer may free what its work uses. Once it has begun,
  // cancel() is a no-op.
  virtual TimerId call_after(std::chrono::nanoseconds delay, std::function<void()> work) = 0;
  virtual void cancel(TimerId timer) = 0;
};

}  // namespace berth
