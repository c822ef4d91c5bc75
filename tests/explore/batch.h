// SPDX-License-Identifier: Apache-2.0
// Batch: tasks of a campaign that have a beginning in common, which is played once for all of them.
#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <optional>
#include <vector>

#include "tests/explore/campaign.h"
#include "tests/explore/crew.h"
#include "tests/explore/exploration.h"
#include "tests/explore/trunk.h"

namespace berth::explore {

struct Batch {
  Task common;                     // no more than the beginning
  std::optional<std::size_t> own;  // the task that is nothing else
  std::vector<Branch> branches;    // by the tasks' numbers
  bool to_the_end = false;         // whatever the time
};

// In the order of the tasks, of which `which` are the numbers; at most so many branches each.
std::deque<Batch> gather_batches(const std::vector<Task>& tasks,
                                 const std::vector<std::size_t>& which, std::size_t branches);

// In a process of the crew, until its time is up. What came of each task is a line:
// "E 17 760000 what is broken", or "U 17": it was never come to.
void play_batch(const Scenario& scenario, const Batch& batch, const CampaignOptions& options,
                std::chrono::steady_clock::time_point end, const Crew::Say& say);

RunOptions options_of(const Task& task, const CampaignOptions& options);

}  // namespace berth::explore
