// SPDX-License-Identifier: Apache-2.0
// StatusWriter: writes statuses, at most one per object and period unless it is urgent. So a status
// with counts does not cause a write for each finished pod. All statuses that are not urgent share
// a rate: with more objects, each one's period becomes longer.
//
// Loop thread only. It must outlive the tasks that it returns. Each task ends within its request's
// deadline.
#pragma once

#include <chrono>
#include <map>
#include <optional>

#include "controller/client/api_client.h"
#include "controller/client/token_bucket.h"
#include "controller/core/plan.h"
#include "controller/io/log.h"
#include "controller/io/task.h"
#include "controller/runtime/metrics.h"
#include "controller/runtime/origin.h"
#include "controller/runtime/outcome.h"
#include "controller/runtime/write_barrier.h"

namespace berth {

class StatusWriter {
 public:
  struct Parts {
    ApiClient& client;
    Log& log;
    Metrics& metrics;
    WriteBarrier& barrier;
  };
  struct Options {
    std::chrono::nanoseconds period = std::chrono::seconds(5);  // of one object
    // For all objects. A turn may be taken up to one period in advance, so up to twice the tokens
    // of a period may be taken at once.
    TokenBucket pace{20, 200};
  };
  StatusWriter(Parts parts, Options options);

  // How long to defer the status; nullopt: write it now.
  std::optional<std::chrono::nanoseconds> due_in(const StatusUpdate& status);
  Task<Verdict> write(Origin origin, StatusUpdate status, KindInfo kind,
                      std::chrono::milliseconds deadline);

 private:
  // For an object whose status was written recently, or that waits for its turn.
  struct Turn {
    std::optional<MonotonicTime> sent;
    std::optional<MonotonicTime> due;
  };
  void forget_old();

  Parts parts_;
  Loop& loop_;
  Options options_;
  std::map<ObjectRef, Turn> turns_;
  MonotonicTime swept_at_{0};
};

}  // namespace berth
