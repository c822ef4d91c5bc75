// SPDX-License-Identifier: Apache-2.0
// UsageInvariants: what must hold for the GPU hours of queues in ConfigMap berth-usage, checked
// like the others (invariants.h) on the store's truth:
//   Back      the stored numbers never decrease, and never count an hour in the future
//   Use       no budget's use exceeds what its queue's workloads can have held since the last
//             foreign edit
//   Spent     nothing is admitted to a queue whose budget says Hold and is used up
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apis/base/time.h"
#include "controller/queue/budget/gpu_hours.h"
#include "controller/sim/world/store.h"
#include "tests/explore/queue_accounts.h"

namespace berth::explore {

class UsageInvariants {
 public:
  // `accounts` must have taken each change before this does, and must outlive it.
  explicit UsageInvariants(const QueueAccounts& accounts) : accounts_(accounts) {}

  // `news_takes`: berth may not know of a change that is younger than this.
  void take(const sim::Change& change, bool by_berth, Time wall,
            std::chrono::nanoseconds news_takes);
  const std::vector<std::string>& broken() const { return broken_; }

 private:
  // A queue's use in millionths of a GPU times seconds, since the last foreign write.
  struct Held {
    std::int64_t gpus = 0;   // now
    Time since{};            // when that began
    std::int64_t most = 0;   // the maximum used before
    std::int64_t grace = 0;  // what ended may have counted until berth knew
  };
  void follow_holders(Time wall, std::chrono::nanoseconds news_takes);
  void take_checkpoint(const sim::Change& change, bool by_berth, Time wall);
  void judge_admissions(const sim::Change& change, Time wall, std::chrono::nanoseconds news_takes);
  bool is_spent(const std::string& queue) const;
  void complain(std::string_view invariant, const std::string& what);

  const QueueAccounts& accounts_;
  std::map<std::string, Held> held_;
  bool has_budgets_ = false;
  bool edited_ = false;  // berth did not write the present checkpoint
  // Workloads run without their admission, or otherwise than admitted, so the holders are unknown
  // here.
  bool meddled_ = false;
  queue::GpuHours written_;
  std::map<std::string, Time> spent_since_;
  std::vector<std::string> broken_;
};

}  // namespace berth::explore
