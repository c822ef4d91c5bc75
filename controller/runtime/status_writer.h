// SPDX-License-Identifier: Apache-2.0
// StatusWriter: writes statuses, each object's at most once in a period unless it is urgent: a
// status that only counts must not become a write for each pod that ends.
//
// Loop thread only. It must outlive the tasks it returned; each ends within its request's deadline.
#pragma once

#include <chrono>
#include <map>
#include <optional>

#include "controller/client/api_client.h"
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
  StatusWriter(Parts parts, std::chrono::nanoseconds period);

  // How long the status is to be held back yet; nothing: write it.
  std::optional<std::chrono::nanoseconds> due_in(const StatusUpdate& status);
  Task<Verdict> write(Origin origin, StatusUpdate status, KindInfo kind,
                      std::chrono::milliseconds deadline);

 private:
  Parts parts_;
  Loop& loop_;
  const std::chrono::nanoseconds period_;
  std::map<ObjectRef, MonotonicTime> sent_;
};

}  // namespace berth
