// SPDX-License-Identifier: Apache-2.0
// FakeLoop: a Loop with a virtual clock. Only the run_ functions run work; equal programs run
// equally.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <optional>
#include <utility>

#include "controller/io/loop.h"
#include "controller/io/timers.h"

namespace berth {

class FakeLoop : public Loop {
 public:
  MonotonicTime now() const override { return now_; }
  std::chrono::sys_time<std::chrono::microseconds> wall_now() const override {
    return wall_start_ + std::chrono::duration_cast<std::chrono::microseconds>(now_);
  }
  void post(std::function<void()> work) override { ready_.push_back(std::move(work)); }
  TimerId call_after(std::chrono::nanoseconds delay, std::function<void()> work) override {
    return timers_.add(now_ + std::max(delay, std::chrono::nanoseconds(0)), std::move(work));
  }
  void cancel(TimerId timer) override { timers_.cancel(timer); }

  // Runs posted work, and what that posts, without moving the clock. Returns how much it ran.
  std::size_t run_ready() {
    std::size_t count = 0;
    for (; !ready_.empty(); ++count) {
      const std::function<void()> work = std::move(ready_.front());
      ready_.pop_front();
      work();
    }
    return count;
  }
  // Runs everything that is due within the span, and moves the clock from timer to timer to its
  // end.
  void run_for(std::chrono::nanoseconds span) {
    const MonotonicTime end = now_ + span;
    run_ready();
    while (fire_next(end)) {
    }
    now_ = end;
  }
  // Until neither work nor timers are left, or the virtual time is over. True: idle.
  bool run_until_idle(std::chrono::nanoseconds limit = std::chrono::hours(1)) {
    const MonotonicTime end = now_ + limit;
    run_ready();
    while (fire_next(end)) {
    }
    return timers_.size() == 0;
  }

  std::size_t timers() const { return timers_.size(); }
  void set_wall(std::chrono::sys_time<std::chrono::microseconds> at) {
    wall_start_ = at - std::chrono::duration_cast<std::chrono::microseconds>(now_);
  }

 private:
  // All timers that are due at one time fire at once, as in a real loop.
  bool fire_next(MonotonicTime end) {
    const std::optional<MonotonicTime> due = timers_.next_due();
    if (!due || *due > end) return false;
    now_ = std::max(now_, *due);
    while (const std::optional<TimerId> id = timers_.fire(now_))
      post([this, id = *id] { timers_.begin(id); });
    run_ready();
    return true;
  }

  MonotonicTime now_{0};
  std::chrono::sys_time<std::chrono::microseconds> wall_start_{
      std::chrono::sys_days(std::chrono::year(2026) / std::chrono::November / 21)};
  std::deque<std::function<void()>> ready_;
  Timers timers_;
};

}  // namespace berth
