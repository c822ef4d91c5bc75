// SPDX-License-Identifier: Apache-2.0
// StatusWriter: writes statuses, each object's at most once in a period unless it is urgent: a
// status that only counts must not become a write for each pod that ends. All that are not urgent
// share a rate, so the more objects want a status, the longer is the period of each.
//
// Loop thread only. It must outlive the tasks it returned; each ends within its request's deadline.
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
    // Of all objects. Places are taken up to a period before their time, so twice of what a period
    // allows may be taken at once.
    TokenBucket pace{20, 200};
  };
  StatusWriter(Parts parts, Options options);

  // How long the status is to be held back yet; nothing: write it.
  std::optional<std::chrono::nanoseconds> due_in(const StatusUpdate& status);
  Task<Verdict> write(Origin origin, StatusUpdate status, KindInfo kind,
                      std::chrono::milliseconds deadline);

 private:
  // Of an object whose status was written a short time ago, or has its place in the pace.
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
