// SPDX-License-Identifier: Apache-2.0
// Executor: carries a plan out. The steps of one object run in order, but adjacent questions run at
// once. Different objects run concurrently. A failed step drops the object's later steps. An
// object's status follows its steps. Afterwards the executor records the plan's events and
// observations for what succeeded, and a status's own events once it is written.
//
// Loop thread only. It must outlive the tasks that it returns. Each task ends within its requests'
// deadlines.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "controller/client/api_client.h"
#include "controller/core/answers.h"
#include "controller/core/plan.h"
#include "controller/io/log.h"
#include "controller/io/permits.h"
#include "controller/io/task.h"
#include "controller/io/task_group.h"
#include "controller/runtime/events.h"
#include "controller/runtime/metrics.h"
#include "controller/runtime/outcome.h"
#include "controller/runtime/status_writer.h"
#include "controller/runtime/step_runner.h"
#include "controller/runtime/write_barrier.h"

namespace berth {

class Executor {
 public:
  struct Options {
    std::size_t writes_at_once = 32;
    std::size_t statuses_at_once = 8;
    std::chrono::milliseconds request_deadline = std::chrono::seconds(30);
    StatusWriter::Options statuses;
  };
  struct Parts {
    ApiClient& client;
    Log& log;
    Metrics& metrics;
    Answers& answers;
    WriteBarrier& barrier;
    Events& events;
    // How long this process may still start writes; zero: not at all.
    std::function<std::chrono::nanoseconds()> time_left;
    StepRunner::Wrote wrote = {};
  };
  Executor(Parts parts, Options options);

  Task<Outcome> run(std::string key, Plan plan, std::stop_token stop);

 private:
  struct Run;

  Task<void> wait_for(TaskGroup& group);
  Task<void> run_object(std::shared_ptr<Run> run, std::size_t index);
  Task<void> run_steps(std::shared_ptr<Run> run, std::size_t index);
  Task<void> run_asks(std::shared_ptr<Run> run, std::size_t index, std::size_t first,
                      std::size_t count);
  Task<void> run_ask(std::shared_ptr<Run> run, std::size_t index, std::size_t step);
  Task<void> run_step(std::shared_ptr<Run> run, std::size_t index, std::size_t number);
  Task<void> run_status(std::shared_ptr<Run> run, StatusUpdate status);
  void tell_refusal(const ObjectRef& object, const std::string& purpose, const Verdict& verdict);
  void send_events(const Run& run);
  void observe(const Run& run);
  std::optional<std::chrono::milliseconds> deadline() const;

  Parts parts_;
  Loop& loop_;
  const Options options_;
  Permits permits_;
  Permits status_permits_;
  Permits ask_permits_;  // held in addition to a permit of permits_
  std::uint64_t last_run_ = 0;
  StepRunner steps_;
  StatusWriter statuses_;
};

}  // namespace berth
