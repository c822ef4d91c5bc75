// SPDX-License-Identifier: Apache-2.0
// StepRunner: carries out one step of a plan: a write, a guard that reads live, or an ask. It
// stores the server's reply in Answers. After a write, the write barrier (write_barrier.h) holds
// the key until the cache shows the write. The Executor decides whether a step may be sent.
//
// Loop thread only. It must outlive the tasks that it returns. Each task ends within its requests'
// deadlines.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "apis/kinds/core.h"
#include "controller/client/api_client.h"
#include "controller/core/answers.h"
#include "controller/core/plan.h"
#include "controller/io/log.h"
#include "controller/io/task.h"
#include "controller/runtime/metrics.h"
#include "controller/runtime/origin.h"
#include "controller/runtime/outcome.h"
#include "controller/runtime/write_barrier.h"

namespace berth {

class StepRunner {
 public:
  using Deadline = std::chrono::milliseconds;  // of one request
  using Wrote = std::function<void(const Origin&, const Write&)>;
  struct Parts {
    ApiClient& client;
    Log& log;
    Metrics& metrics;
    Answers& answers;
    WriteBarrier& barrier;
    // The deadline of a request sent now; nullopt: none may be sent.
    std::function<std::optional<Deadline>()> deadline;
    Wrote wrote = {};  // called after a successful write; may be empty
  };
  explicit StepRunner(Parts parts);

  Task<Verdict> run(Origin origin, Step step, Deadline deadline);

 private:
  Task<Verdict> write(Origin origin, Write write, Deadline deadline);
  Task<Verdict> guard(Origin origin, Guard guard, Deadline deadline);
  Task<Verdict> guard_all(Origin origin, Guard guard);
  Task<Verdict> guard_object(Origin origin, Guard guard, Deadline deadline);
  Verdict conclude(const Origin& origin, const Guard& guard, std::optional<std::string> refusal,
                   std::string against);
  Task<Verdict> ask(Origin origin, Ask ask, Deadline deadline);
  template <class T>
  Task<Result<std::vector<T>>> fetch_all(ListOptions list, std::stop_token stop);
  void answer(const Step& step, bool yes, Error error, std::string against);

  Parts parts_;
  Loop& loop_;
};

}  // namespace berth
