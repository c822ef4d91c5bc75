// SPDX-License-Identifier: Apache-2.0
// Executor: carries a plan out. The steps of one object run in order, different objects at once.
// A step that fails drops the rest of its object's; what the server said goes into Answers, and
// what was written is expected in the cache (write_barrier.h) before the key is looked at again.
//
// Loop thread only. It must outlive the tasks it returned; each ends within its requests'
// deadlines.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "controller/client/api_client.h"
#include "controller/core/answers.h"
#include "controller/core/plan.h"
#include "controller/io/log.h"
#include "controller/io/task.h"
#include "controller/runtime/events.h"
#include "controller/runtime/metrics.h"
#include "controller/runtime/permits.h"
#include "controller/runtime/write_barrier.h"

namespace berth {

// How a step, or a whole plan, went; of several the worst counts, which is the last here.
enum class Fate {
  kNothing,   // there was nothing to do
  kDone,      // every step succeeded
  kAnswered,  // the server said no to an eviction, real or asked: a state the core plans with
  kRefused,   // a guard saw live what the cache did not show
  kConflict,  // a precondition failed, or the object is gone: the cache was behind
  kRetry,     // throttled, timed out, unavailable: applied or not, unknown
  kRejected,  // invalid or forbidden: trying again unchanged is of little use
  kStopped,   // we do not lead any more, or are shutting down
};
const char* to_string(Fate fate);

struct Outcome {
  Fate fate = Fate::kNothing;
  std::uint32_t steps = 0;                              // that were sent
  std::uint32_t writes = 0;                             // that succeeded, statuses not counted
  std::vector<ObjectRef> conflicts;                     // objects whose cached version is behind
  std::string error;                                    // of the worst step, for the log
  std::optional<std::chrono::nanoseconds> retry_after;  // the server's word
  std::optional<std::chrono::nanoseconds> status_due;   // a status was held back this long
};

class Executor {
 public:
  struct Options {
    std::size_t writes_at_once = 32;
    std::chrono::milliseconds request_deadline = std::chrono::seconds(30);
    std::chrono::nanoseconds status_period = std::chrono::seconds(5);
  };
  struct Parts {
    ApiClient& client;
    Log& log;
    Metrics& metrics;
    Answers& answers;
    WriteBarrier& barrier;
    Events& events;
    // How long writes may be started yet; zero: not at all.
    std::function<std::chrono::nanoseconds()> time_left;
  };
  Executor(Parts parts, Options options);

  Task<Outcome> run(std::string key, Plan plan, std::stop_token stop);

 private:
  struct Run;
  using Verdict = std::pair<Fate, Error>;

  Task<void> run_object(std::shared_ptr<Run> run, std::size_t index);
  Task<void> run_steps(std::shared_ptr<Run> run, std::size_t index);
  Task<Verdict> run_step(std::shared_ptr<Run> run, Step step);
  Task<Verdict> run_write(std::shared_ptr<Run> run, Write write);
  Task<Verdict> run_guard(std::shared_ptr<Run> run, Guard guard);
  Task<Verdict> run_ask(std::shared_ptr<Run> run, Ask ask);
  Task<void> run_status(std::shared_ptr<Run> run, StatusUpdate status);
  Task<Result<std::vector<Pod>>> fetch_pods_on(std::string node, std::stop_token stop);
  void answer(const Step& step, bool yes, Error error, std::string against);
  void settle(Run& run, Fate fate, const ObjectRef& object, const Error& error);
  void send_events(const Run& run);
  std::optional<std::chrono::milliseconds> deadline() const;

  Parts parts_;
  Loop& loop_;
  const Options options_;
  Permits permits_;
  std::uint64_t last_run_ = 0;
  std::map<ObjectRef, MonotonicTime> statuses_sent_;
};

}  // namespace berth
