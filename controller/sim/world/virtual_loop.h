// SPDX-License-Identifier: Apache-2.0
// VirtualLoop: one program's Loop on simulated time. Work runs only in run_ready(), so equal
// programs run equally, and a program is frozen while its loop is not run.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <utility>

#include "controller/io/loop.h"
#include "controller/io/timers.h"
#include "controller/sim/world/virtual_clock.h"

namespace berth::sim {

class VirtualLoop : public Loop {
 public:
  explicit VirtualLoop(const VirtualClock& clock) : clock_(&clock) {}

  MonotonicTime now() const override { return clock_->now(); }
  std::chrono::sys_time<std::chrono::microseconds> wall_now() const override {
    return clock_->wall() + wall_step_;
  }
  void post(std::function<void()> work) override { ready_.push_back(std::move(work)); }
  TimerId call_after(std::chrono::nanoseconds delay, std::function<void()> work) override;
  void cancel(TimerId timer) override { timers_.cancel(timer); }

  // When this loop next has work: now if work is ready, else its first timer.
  std::optional<MonotonicTime> next_due() const;
  // Runs due timers, ready work, and work that follows from it, without moving the clock. Returns
  // the number of calls.
  std::size_t run_ready();
  std::size_t timers() const { return timers_.size(); }

  // Steps the wall clock of this program's machine; the monotonic clock does not change.
  void step_wall(std::chrono::microseconds by) { wall_step_ += by; }

  // Leaves the simulation: from now on the loop has its own time, which jumps from event to event,
  // until `done`, or for one simulated hour. This unwinds the coroutines of a killed program.
  void run_alone_until(const std::function<bool()>& done);

 private:
  void fire_due();

  const VirtualClock* clock_;
  std::optional<VirtualClock> own_clock_;
  std::chrono::microseconds wall_step_{0};
  std::deque<std::function<void()>> ready_;
  Timers timers_;
};

}  // namespace berth::sim
