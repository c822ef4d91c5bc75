// SPDX-License-Identifier: Apache-2.0
// Turns: which batch of a campaign is played next. Every scenario's own story comes first, then the
// crash points, until they are through or their time is up; after that the scenario whose batches
// have taken the least time so far is next, so that each has the same share of it whatever its
// schedules cost.
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

  enum class TimeLeft { kForAll, kForCrashPoints, kForOthers, kForStories };  // always for these
  // None: all are played, or the time is up for those that are left.
  std::optional<Batch> take(TimeLeft left);
  // What is to be played again, next, and whatever time is left.
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
