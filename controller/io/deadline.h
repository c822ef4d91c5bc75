// SPDX-License-Identifier: Apache-2.0
// Deadline: a stop token that is requested when its parent stops, when its time is over, or by
// hand. It gives one limit to everything that runs below it.
#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <stop_token>
#include <utility>

#include "controller/io/loop.h"

namespace berth {

class Deadline {
 public:
  Deadline(Loop& loop, std::chrono::nanoseconds after, std::stop_token parent)
      : loop_(loop),
        due_(loop.now() + after),
        link_(std::move(parent), [stop = stop_]() mutable { stop.request_stop(); }),
        timer_(loop.call_after(after, [this, stop = stop_]() mutable {
          expired_ = !stop.stop_requested();
          stop.request_stop();
        })) {}
  Deadline(const Deadline&) = delete;
  Deadline& operator=(const Deadline&) = delete;
  ~Deadline() { loop_.cancel(timer_); }

  std::stop_token token() const { return stop_.get_token(); }
  void request_stop() { stop_.request_stop(); }
  bool expired() const { return expired_; }  // the time was over before any other stop
  std::chrono::nanoseconds left() const {
    return std::max(due_ - loop_.now(), std::chrono::nanoseconds(0));
  }

 private:
  Loop& loop_;
  MonotonicTime due_;
  std::stop_source stop_;
  bool expired_ = false;
  std::stop_callback<std::function<void()>> link_;
  Loop::TimerId timer_;
};

}  // namespace berth
