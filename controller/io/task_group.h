// SPDX-License-Identifier: Apache-2.0
// TaskGroup: tasks that stop together. To shut down, call stop(), keep the loop running until
// on_empty is called, then stop the loop.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <stop_token>
#include <utility>

#include "controller/io/task.h"

namespace berth {

class TaskGroup {
 public:
  explicit TaskGroup(Loop& loop) : loop_(loop) {}
  TaskGroup(const TaskGroup&) = delete;
  TaskGroup& operator=(const TaskGroup&) = delete;

  // The stop token to pass to the group's tasks.
  std::stop_token token() const { return stop_.get_token(); }

  void spawn(Task<void> task) {
    ++state_->running;
    berth::spawn(loop_, std::move(task), [state = state_] {
      if (--state->running == 0 && state->on_empty) std::exchange(state->on_empty, nullptr)();
    });
  }

  // Requests all tasks to end. When the last one has ended, `on_empty` is called; it is posted if
  // there is no task.
  void stop(std::function<void()> on_empty) {
    state_->on_empty = std::move(on_empty);
    stop_.request_stop();
    if (state_->running > 0) return;
    loop_.post([state = state_] {
      if (state->on_empty) std::exchange(state->on_empty, nullptr)();
    });
  }

  std::size_t running() const { return state_->running; }

 private:
  struct State {
    std::size_t running = 0;
    std::function<void()> on_empty;
  };
  Loop& loop_;
  std::stop_source stop_;
  std::shared_ptr<State> state_ = std::make_shared<State>();
};

}  // namespace berth
