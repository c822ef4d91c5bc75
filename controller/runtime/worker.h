// SPDX-License-Identifier: Apache-2.0
// Worker: takes a key from the queue, lets the pure core plan it and the executor carry the plan
// out, and decides when the key is due again.
//
// Loop thread only. It must live until shut_down() has returned.
#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <stop_token>
#include <string>
#include <string_view>

#include "controller/client/api_client.h"
#include "controller/core/answers.h"
#include "controller/core/plan.h"
#include "controller/core/reconcilers.h"
#include "controller/io/log.h"
#include "controller/io/task.h"
#include "controller/io/task_group.h"
#include "controller/runtime/caches.h"
#include "controller/runtime/controller_options.h"
#include "controller/runtime/events.h"
#include "controller/runtime/executor.h"
#include "controller/runtime/history.h"
#include "controller/runtime/leadership.h"
#include "controller/runtime/metrics.h"
#include "controller/runtime/repeated_conflicts.h"
#include "controller/runtime/workqueue.h"
#include "controller/runtime/write_barrier.h"

namespace berth {

class Worker {
 public:
  struct Parts {
    ApiClient& client;
    Log& log;
    Metrics& metrics;
    Caches& caches;
    Events& events;
    History& history;
    const Leadership& leadership;
    const Reconcilers& reconcilers;
    const Samples& samples;
    const ServerClock& clock;
  };
  Worker(Parts parts, const ControllerOptions& options);

  // The worker accepts and processes keys from start() to cease().
  void start();
  void cease() { working_ = false; }
  bool working() const { return working_; }

  void add(const std::string& key);
  void on_cached(std::string_view kind, const ObjectMeta& meta);
  // Carries out a plan that no key asked for, under its own name.
  Task<Outcome> carry_out(std::string name, Plan plan, std::stop_token stop);
  // Waits up to `drain_limit` for requests in flight, then cancels them.
  Task<void> shut_down(std::chrono::nanoseconds drain_limit);
  WorkQueue::Unfinished unfinished() const { return queue_.unfinished(); }

 private:
  void pump();
  void pump_soon();
  void work_on(const std::string& key);
  Task<void> execute(std::string key, Plan plan, std::chrono::nanoseconds compute);
  void conclude(const std::string& key, const Outcome& outcome, std::size_t plan_hash,
                std::chrono::nanoseconds compute);
  // GETs the objects that conflicted, and reports those that did not change since the last GET.
  void look_again(const std::string& key, const Outcome& outcome);
  void tell_stuck(const ObjectRef& object, const std::string& error);
  void log_dry_run(const std::string& key, const Plan& plan);
  void forget_old_answers();
  Attention attention();

  Parts parts_;
  Loop& loop_;
  const ControllerOptions& options_;
  Answers answers_;
  WriteBarrier barrier_;
  WorkQueue queue_;
  Executor executor_;
  TaskGroup work_;  // plans in execution
  bool working_ = false;
  Time attended_since_{};
  bool clock_was_right_ = true;
  bool pump_posted_ = false;
  MonotonicTime answers_swept_at_{0};
  RepeatedConflicts conflicts_;
  std::map<std::string, std::size_t> last_plans_;  // hash of the steps last carried out, by key
};

}  // namespace berth
