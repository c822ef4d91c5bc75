// SPDX-License-Identifier: Apache-2.0
// UsageInvariants: what must hold of the GPU hours that queues use, as ConfigMap berth-usage has
// them, judged like the rest (invariants.h) on the store's truth:
//   Back    what is written down there never gets less, nor does it count an hour that is to come
//   Use     no budget has more used than its queue's work can have held since anybody wrote it down
//   Spent   nothing is admitted to a queue whose budget says Hold and is used up
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
  // `accounts` has taken each change before this does, and outlives it.
  explicit UsageInvariants(const QueueAccounts& accounts) : accounts_(accounts) {}

  // `news_takes`: how long ago a change may be that berth has not heard of.
  void take(const sim::Change& change, bool by_berth, Time wall,
            std::chrono::nanoseconds news_takes);
  const std::vector<std::string>& broken() const { return broken_; }

 private:
  // Of a queue, in millionths of a GPU times seconds, since somebody else last wrote it down.
  struct Held {
    std::int64_t gpus = 0;   // now
    Time since{};            // they are held
    std::int64_t most = 0;   // that was used before that
    std::int64_t grace = 0;  // what ended may have counted on until it was heard of
  };
  void follow_holders(Time wall, std::chrono::nanoseconds news_takes);
  void take_checkpoint(const sim::Change& change, bool by_berth, Time wall);
  void judge_admissions(const sim::Change& change, Time wall, std::chrono::nanoseconds news_takes);
  bool is_spent(const std::string& queue) const;
  void complain(std::string_view invariant, const std::string& what);

  const QueueAccounts& accounts_;
  std::map<std::string, Held> held_;
  bool has_budgets_ = false;
  bool edited_ = false;  // the checkpoint that stands is not berth's
  // Something runs that nobody admitted, or otherwise than it was admitted: who holds what is not
  // known here.
  bool meddled_ = false;
  queue::GpuHours written_;
  std::map<std::string, Time> spent_since_;
  std::vector<std::string> broken_;
};

}  // namespace berth::explore
