// SPDX-License-Identifier: Apache-2.0
#include "controller/sim/virtual_loop.h"

#include <algorithm>

namespace berth::sim {

Loop::TimerId VirtualLoop::call_after(std::chrono::nanoseconds delay, std::function<void()> work) {
  const TimerId id = ++last_timer_;
  const MonotonicTime due = now() + std::max(delay, std::chrono::nanoseconds(0));
  timers_.emplace(std::make_pair(due, id), std::move(work));
  due_.emplace(id, due);
  return id;
}

void VirtualLoop::cancel(TimerId timer) {
  const auto found = due_.find(timer);
  if (found == due_.end()) return;
  timers_.erase({found->second, timer});
  due_.erase(found);
}

std::optional<MonotonicTime> VirtualLoop::next_due() const {
  if (!ready_.empty()) return now();
  if (timers_.empty()) return std::nullopt;
  return std::max(now(), timers_.begin()->first.first);
}

void VirtualLoop::fire_due() {
  while (!timers_.empty() && timers_.begin()->first.first <= now()) {
    auto node = timers_.extract(timers_.begin());
    due_.erase(node.key().second);
    post(std::move(node.mapped()));
  }
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
