// SPDX-License-Identifier: Apache-2.0
// Turns: which batch of a campaign is next. The fault-free run of every scenario comes first, then
// the crash points, until all are run or their time is up. After that the scenario that has used
// the least time is next, so that each gets the same share of time.
#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "tests/explore/batch.h"
#include "tests/explore/campaign.h"

namespace berth::explore {

class Turns {
 public:
  Turns(const std::vector<Task>& tasks, std::size_t scenarios, const CampaignOptions& options);

  enum class TimeLeft { kForAll, kForCrashPoints, kForOthers, kForStories };  // last: no limit
  // nullopt: all were run, or the time for the rest is over.
  std::optional<Batch> take(TimeLeft left);
  // Queues the batch again, as the next one and regardless of the time.
  void take_back(Batch batch) { again_.push_back(std::move(batch)); }
  void add_time(int scenario, std::chrono::nanoseconds taken);

 private:
  std::deque<Batch> again_;
  std::deque<Batch> certain_;
  struct Share {
    std::deque<Batch> batches;
    std::chrono::nanoseconds taken{0};
  };
  std::vector<Share> shares_;  // by scenario
};

}  // namespace berth::explore
