// SPDX-License-Identifier: Apache-2.0
#include "controller/live/uv_loop.h"

#include <algorithm>
#include <csignal>

namespace berth {
namespace {

template <class Handle>
uv_handle_t* as_handle(Handle* handle) {
  return reinterpret_cast<uv_handle_t*>(handle);
}

}  // namespace

UvLoop::UvLoop() {
  // A closed peer must be an error of write(), not the end of the process.
  std::signal(SIGPIPE, SIG_IGN);
  uv_loop_init(&loop_);
  uv_idle_init(&loop_, &idle_);
  uv_check_init(&loop_, &check_);
  uv_timer_init(&loop_, &timer_);
  uv_async_init(&loop_, &async_,
                [](uv_async_t* handle) { static_cast<UvLoop*>(handle->data)->take_foreign(); });
  idle_.data = check_.data = timer_.data = async_.data = this;
  uv_check_start(&check_,
                 [](uv_check_t* handle) { static_cast<UvLoop*>(handle->data)->run_batch(); });
}

UvLoop::~UvLoop() {
  // Closures first: they may own objects that close further handles.
  ready_.clear();
  timers_.clear();
  uv_close(as_handle(&idle_), nullptr);
  uv_close(as_handle(&check_), nullptr);
  uv_close(as_handle(&timer_), nullptr);
  uv_close(as_handle(&async_), nullptr);
  for (const auto& signal : signals_) uv_close(as_handle(&signal->handle), nullptr);
  uv_run(&loop_, UV_RUN_NOWAIT);
  uv_loop_close(&loop_);
}

MonotonicTime UvLoop::now() const {
  return MonotonicTime(static_cast<MonotonicTime::rep>(uv_hrtime()));
}

std::chrono::sys_time<std::chrono::microseconds> UvLoop::wall_now() const {
  return std::chrono::floor<std::chrono::microseconds>(std::chrono::system_clock::now());
}

void UvLoop::post(std::function<void()> work) {
  if (ready_.empty()) uv_idle_start(&idle_, [](uv_idle_t*) {});
  ready_.push_back(std::move(work));
}

// Runs the work that was ready at the start. Work posted meanwhile waits for the next I/O poll.
void UvLoop::run_batch() {
  for (std::size_t count = ready_.size(); count > 0 && !ready_.empty(); --count) {
    const std::function<void()> work = std::move(ready_.front());
    ready_.pop_front();
    work();
  }
  if (ready_.empty()) uv_idle_stop(&idle_);
}

Loop::TimerId UvLoop::call_after(std::chrono::nanoseconds delay, std::function<void()> work) {
  const MonotonicTime due = now() + std::max(delay, std::chrono::nanoseconds(0));
  const TimerId id = timers_.add(due, std::move(work));
  if (timers_.next_due() == due) arm_timer();
  return id;
}

// The uv timer may then fire early and find nothing due.
void UvLoop::cancel(TimerId timer) { timers_.cancel(timer); }

void UvLoop::arm_timer() {
  const std::optional<MonotonicTime> due = timers_.next_due();
  if (!due) {
    uv_timer_stop(&timer_);
    return;
  }
  const auto left = std::max(*due - now(), MonotonicTime(0));
  const auto left_ms = std::chrono::ceil<std::chrono::milliseconds>(left);
  uv_update_time(&loop_);
  uv_timer_start(
      &timer_, [](uv_timer_t* handle) { static_cast<UvLoop*>(handle->data)->fire_timers(); },
      static_cast<std::uint64_t>(left_ms.count()), 0);
}

void UvLoop::fire_timers() {
  const MonotonicTime time = now();
  while (const std::optional<TimerId> id = timers_.fire(time))
    post([this, id = *id] { timers_.begin(id); });
  arm_timer();
}

void UvLoop::post_from_any_thread(std::function<void()> work) {
  {
    const std::lock_guard<std::mutex> lock(foreign_mutex_);
    foreign_.push_back(std::move(work));
  }
  uv_async_send(&async_);
}

void UvLoop::take_foreign() {
  std::vector<std::function<void()>> taken;
  {
    const std::lock_guard<std::mutex> lock(foreign_mutex_);
    taken.swap(foreign_);
  }
  for (auto& work : taken) post(std::move(work));
}

void UvLoop::on_signal(int signal, std::function<void()> work) {
  auto entry = std::make_unique<SignalHandle>();
  entry->loop = this;
  entry->work = std::move(work);
  uv_signal_init(&loop_, &entry->handle);
  entry->handle.data = entry.get();
  uv_signal_start(
      &entry->handle,
      [](uv_signal_t* handle, int) {
        auto* self = static_cast<SignalHandle*>(handle->data);
        self->loop->post(self->work);
      },
      signal);
  signals_.push_back(std::move(entry));
}

void UvLoop::run() { uv_run(&loop_, UV_RUN_DEFAULT); }

void UvLoop::stop() { uv_stop(&loop_); }

}  // namespace berth
