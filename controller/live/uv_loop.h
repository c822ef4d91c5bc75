// SPDX-License-Identifier: Apache-2.0
// UvLoop: the Loop in production, on libuv. Only post_from_any_thread() is safe on other threads
// than the one that calls run().
#pragma once

#include <uv.h>

#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "controller/io/loop.h"
#include "controller/io/timers.h"

namespace berth {

class UvLoop : public Loop {
 public:
  UvLoop();
  ~UvLoop() override;
  UvLoop(const UvLoop&) = delete;
  UvLoop& operator=(const UvLoop&) = delete;

  MonotonicTime now() const override;
  std::chrono::sys_time<std::chrono::microseconds> wall_now() const override;
  void post(std::function<void()> work) override;
  TimerId call_after(std::chrono::nanoseconds delay, std::function<void()> work) override;
  void cancel(TimerId timer) override;

  // The only entry for other threads: posts `work` on the loop's thread.
  void post_from_any_thread(std::function<void()> work);

  // Posts `work` for each such signal, which loses its default effect.
  void on_signal(int signal, std::function<void()> work);

  // Runs until stop(). Work that is still posted then waits for the next run(), or is dropped.
  void run();
  void stop();

  uv_loop_t* raw() { return &loop_; }  // for code that polls sockets: curl and the servers

 private:
  struct SignalHandle {
    uv_signal_t handle;
    UvLoop* loop;
    std::function<void()> work;
  };
  void run_batch();
  void fire_timers();
  void arm_timer();
  void take_foreign();

  uv_loop_t loop_;
  uv_idle_t idle_;    // active while work is ready, so that polling does not wait
  uv_check_t check_;  // runs the ready work, after I/O
  uv_timer_t timer_;  // set to the earliest of timers_
  uv_async_t async_;  // other threads wake it; it also keeps run() from returning
  std::vector<std::unique_ptr<SignalHandle>> signals_;

  std::deque<std::function<void()>> ready_;
  Timers timers_;
  std::mutex foreign_mutex_;
  std::vector<std::function<void()>> foreign_;
};

}  // namespace berth
