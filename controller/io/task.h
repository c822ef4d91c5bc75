// SPDX-License-Identifier: Apache-2.0
// Task<T>: a lazy coroutine on the loop. Awaiting a task starts it. A task that finishes without
// suspending continues its awaiter at once; any other resumes it through Loop::post (g++ 12 drops
// the tail call under ASan, so inline resumption would grow the stack).
//
// Coroutines take parameters by value and hold nothing across a co_await that other code may free.
// Every wait has a deadline and a stop token. A task gets its loop from its awaiter; spawn() gives
// the first one its loop. A started task must run to its end, because an operation that it waits
// for can't learn that the task's frame was destroyed.
//
// g++ 12 miscompiles three patterns, which are forbidden: an aggregate temporary inside an awaited
// call (name it first), `c ? T() : co_await f()` (use if/else), and a braced list as an awaited
// call's argument (name the vector first).
#pragma once

#include <chrono>
#include <coroutine>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <utility>

#include "controller/io/loop.h"

namespace berth {

template <class T>
class Task;

namespace task_detail {

struct PromiseBase {
  Loop* loop = nullptr;
  std::coroutine_handle<> continuation;
  bool awaiter_suspended = false;  // false while the awaiter is still inside await_suspend

  std::suspend_always initial_suspend() noexcept { return {}; }
  struct FinalAwaiter {
    bool await_ready() noexcept { return false; }
    template <class Promise>
    void await_suspend(std::coroutine_handle<Promise> self) noexcept {
      PromiseBase& p = self.promise();
      if (p.awaiter_suspended && p.continuation) {
        p.loop->post([c = p.continuation] { c.resume(); });
      }
    }
    void await_resume() noexcept {}
  };
  FinalAwaiter final_suspend() noexcept { return {}; }
  // berth's own code reports errors as values. An exception here is a bug or bad_alloc, and a crash
  // is safe by design.
  [[noreturn]] void unhandled_exception() noexcept { std::terminate(); }
};

template <class T>
struct Promise : PromiseBase {
  std::optional<T> value;
  Task<T> get_return_object();
  void return_value(T v) { value.emplace(std::move(v)); }
  T take() { return std::move(*value); }
};

template <>
struct Promise<void> : PromiseBase {
  Task<void> get_return_object();
  void return_void() {}
  void take() {}
};

}  // namespace task_detail

template <class T = void>
class [[nodiscard]] Task {
 public:
  using promise_type = task_detail::Promise<T>;
  explicit Task(std::coroutine_handle<promise_type> handle) : handle_(handle) {}
  Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, {})) {}
  Task& operator=(Task&& other) noexcept {
    if (this != &other) {
      destroy();
      handle_ = std::exchange(other.handle_, {});
    }
    return *this;
  }
  ~Task() { destroy(); }

  bool await_ready() const noexcept { return false; }
  // Starts the task with its awaiter's loop. False: it has already finished, so the awaiter
  // continues without suspending.
  template <class AwaiterPromise>
  bool await_suspend(std::coroutine_handle<AwaiterPromise> awaiter) {
    promise_type& p = handle_.promise();
    p.loop = awaiter.promise().loop;
    p.continuation = awaiter;
    handle_.resume();
    if (handle_.done()) return false;
    p.awaiter_suspended = true;
    return true;
  }
  T await_resume() { return handle_.promise().take(); }

  std::coroutine_handle<promise_type> release() { return std::exchange(handle_, {}); }

 private:
  void destroy() {
    if (handle_) handle_.destroy();
  }
  std::coroutine_handle<promise_type> handle_;
};

namespace task_detail {
template <class T>
Task<T> Promise<T>::get_return_object() {
  return Task<T>(std::coroutine_handle<Promise<T>>::from_promise(*this));
}
inline Task<void> Promise<void>::get_return_object() {
  return Task<void>(std::coroutine_handle<Promise<void>>::from_promise(*this));
}

// The root of a tree of tasks. It owns itself, and is destroyed when its task ends.
struct Root {
  struct promise_type {
    Loop* loop = nullptr;
    Root get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() {}
    [[noreturn]] void unhandled_exception() noexcept { std::terminate(); }
  };
  std::coroutine_handle<promise_type> handle;
};
inline Root make_root(Task<void> task, std::function<void()> done) {
  {
    Task<void> running = std::move(task);
    co_await running;
  }
  if (done) done();
}

// Owns a root that has not run yet. If the loop is destroyed before its queue runs, the root is
// freed too.
class PendingRoot {
 public:
  explicit PendingRoot(Root root) : root_(root) {}
  PendingRoot(const PendingRoot&) = delete;
  PendingRoot& operator=(const PendingRoot&) = delete;
  ~PendingRoot() {
    if (root_.handle) root_.handle.destroy();
  }
  void run() { std::exchange(root_.handle, {}).resume(); }

 private:
  Root root_;
};
}  // namespace task_detail

// Starts a task from outside any coroutine, through the loop's queue. `done` is called when the
// task has ended and its frame is destroyed. A task can only end by itself, when its stop token is
// requested. Wait for that before you stop the loop (TaskGroup counts its tasks).
inline void spawn(Loop& loop, Task<void> task, std::function<void()> done = nullptr) {
  task_detail::Root root = task_detail::make_root(std::move(task), std::move(done));
  root.handle.promise().loop = &loop;
  auto pending = std::make_shared<task_detail::PendingRoot>(root);
  loop.post([pending] { pending->run(); });
}

// co_await current_loop(): the loop this coroutine runs on.
struct current_loop {
  Loop* loop = nullptr;
  current_loop() {}
  bool await_ready() const noexcept { return false; }
  template <class P>
  bool await_suspend(std::coroutine_handle<P> h) noexcept {
    loop = h.promise().loop;
    return false;
  }
  Loop& await_resume() const noexcept { return *loop; }
};

// co_await sleep_for(delay, stop): true after the delay, false as soon as stop is requested.
class sleep_for {
 public:
  sleep_for(std::chrono::nanoseconds delay, std::stop_token stop)
      : delay_(delay), stop_(std::move(stop)) {}
  sleep_for(const sleep_for&) = delete;
  sleep_for& operator=(const sleep_for&) = delete;

  bool await_ready() const noexcept { return stop_.stop_requested(); }
  template <class P>
  void await_suspend(std::coroutine_handle<P> awaiter) {
    sleep_ = std::make_shared<Sleep>();
    sleep_->loop = awaiter.promise().loop;
    sleep_->timer = sleep_->loop->call_after(
        delay_, [sleep = sleep_, awaiter] { sleep->finish(true, awaiter); });
    // Runs inside request_stop(), so it resumes the task through the queue.
    callback_.emplace(stop_, std::function<void()>([sleep = sleep_, awaiter] {
                        sleep->loop->post([sleep, awaiter] { sleep->finish(false, awaiter); });
                      }));
  }
  bool await_resume() {
    callback_.reset();
    return sleep_ != nullptr && sleep_->slept && !stop_.stop_requested();
  }

 private:
  // Outlives the awaiter: timer and stop may both be posted, and the second one finds `done`.
  struct Sleep {
    Loop* loop = nullptr;
    Loop::TimerId timer = 0;
    bool slept = false;
    bool done = false;
    void finish(bool passed, std::coroutine_handle<> awaiter) {
      if (std::exchange(done, true)) return;
      slept = passed;
      loop->cancel(timer);
      awaiter.resume();
    }
  };
  std::chrono::nanoseconds delay_;
  std::stop_token stop_;
  std::shared_ptr<Sleep> sleep_;
  std::optional<std::stop_callback<std::function<void()>>> callback_;
};

// Passes one value from a callback to one waiting coroutine: `co_await handoff.wait()`. Set it
// once, before or during the wait. Both sides hold it in a shared_ptr. The setter must always set
// it in the end, because the wait has neither a deadline nor a stop token. Transport's on_end does
// so.
template <class T>
class Handoff {
 public:
  explicit Handoff(Loop& loop) : loop_(loop) {}
  void set(T value) {
    if (value_) return;
    value_.emplace(std::move(value));
    if (awaiter_) loop_.post([h = awaiter_] { h.resume(); });
  }
  struct Awaiter {
    explicit Awaiter(Handoff& handoff) : h(handoff) {}
    Handoff& h;
    bool await_ready() const noexcept { return h.value_.has_value(); }
    void await_suspend(std::coroutine_handle<> a) { h.awaiter_ = a; }
    T await_resume() { return std::move(*h.value_); }
  };
  Awaiter wait() { return Awaiter(*this); }

 private:
  Loop& loop_;
  std::optional<T> value_;
  std::coroutine_handle<> awaiter_;
};

}  // namespace berth
