// SPDX-License-Identifier: Apache-2.0
#include "controller/sim/world/virtual_loop.h"

#include <algorithm>

namespace berth::sim {

Loop::TimerId VirtualLoop::call_after(std::chrono::nanoseconds delay, std::function<void()> work) {
  return timers_.add(now() + std::max(delay, std::chrono::nanoseconds(0)), std::move(work));
}

std::optional<MonotonicTime> VirtualLoop::next_due() const {
  if (!ready_.empty()) return now();
  const std::optional<MonotonicTime> due = timers_.next_due();
  return due ? std::optional(std::max(now(), *due)) : std::nullopt;
}

void VirtualLoop::fire_due() {
  while (const std::optional<TimerId> id = timers_.fire(now()))
    post([this, id = *id] { timers_.begin(id); });
}

std::size_t VirtualLoop::run_ready() {
  std::size_t count = 0;
  for (fire_due(); !ready_.empty(); ++count) {
    const std::function<void()> work = std::move(ready_.front());
    ready_.pop_front();
    work();
  }
  return count;
}

void VirtualLoop::run_alone_until(const std::function<bool()>& done) {
  own_clock_ = *clock_;
  clock_ = &*own_clock_;
  const MonotonicTime end = now() + std::chrono::hours(1);
  while (!done()) {
    const std::optional<MonotonicTime> due = next_due();
    if (!due || *due > end) return;
    own_clock_->move_to(*due);
    run_ready();
  }
}

}  // namespace berth::sim
