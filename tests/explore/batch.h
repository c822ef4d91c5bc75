// SPDX-License-Identifier: Apache-2.0
// Batch: tasks of a campaign that share a beginning, which is simulated once for all of them.
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
  Task common;                     // only the beginning
  std::optional<std::size_t> own;  // the task that equals the beginning
  std::vector<Branch> branches;    // with the tasks' numbers
  bool to_the_end = false;         // regardless of the time
};

// In the order of the tasks with the numbers `which`; each batch has at most so many branches.
std::deque<Batch> gather_batches(const std::vector<Task>& tasks,
                                 const std::vector<std::size_t>& which, std::size_t branches);

// Runs in a crew process until its time is up. Each task's result is a line: "E 17 760000 the
// failure", or "U 17": the run never reached it.
void play_batch(const Scenario& scenario, const Batch& batch, const CampaignOptions& options,
                std::chrono::steady_clock::time_point end, const Crew::Say& say);

RunOptions options_of(const Task& task, const CampaignOptions& options);

}  // namespace berth::explore
