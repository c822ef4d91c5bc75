// SPDX-License-Identifier: Apache-2.0
// Timers: the timers of one Loop, ordered by due time. A timer first fires, which posts its work,
// and then begins its work. Until then it can be cancelled.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "controller/io/loop.h"

namespace berth {

class Timers {
 public:
  using Id = Loop::TimerId;

  Id add(MonotonicTime due, std::function<void()> work) {
    const Id id = ++last_;
    waiting_.emplace(due, id);
    timers_.emplace(id, Timer{due, std::move(work)});
    return id;
  }
  void cancel(Id id) {
    const auto timer = timers_.extract(id);
    if (!timer.empty()) waiting_.erase({timer.mapped().due, id});
  }
  std::optional<MonotonicTime> next_due() const {
    if (waiting_.empty()) return std::nullopt;
    return waiting_.begin()->first;
  }
  // Fires the earliest timer if it is due by `now`. The caller then posts begin() for it.
  std::optional<Id> fire(MonotonicTime now) {
    if (waiting_.empty() || waiting_.begin()->first > now) return std::nullopt;
    return waiting_.extract(waiting_.begin()).value().second;
  }
  // Runs the work of a fired timer, unless the timer was cancelled since.
  void begin(Id id) {
    const auto timer = timers_.extract(id);
    if (!timer.empty()) timer.mapped().work();
  }
  std::size_t size() const { return timers_.size(); }
  void clear() {
    waiting_.clear();
    timers_.clear();
  }

 private:
  struct Timer {
    MonotonicTime due;
    std::function<void()> work;
  };
  std::map<Id, Timer> timers_;                      // until they begin
  std::set<std::pair<MonotonicTime, Id>> waiting_;  // until they fire
  Id last_ = 0;
};

}  // namespace berth
