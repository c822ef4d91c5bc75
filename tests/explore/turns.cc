// SPDX-License-Identifier: Apache-2.0
#include "tests/explore/turns.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>

namespace berth::explore {
namespace {

// Branches per batch: enough that the common beginning costs each next to nothing, and few enough
// that a scenario's turn ends soon.
constexpr std::size_t kBranches = 64;

void append(std::deque<Batch>& to, std::deque<Batch> from) {
  std::ranges::move(from, std::back_inserter(to));
}

}  // namespace

Turns::Turns(const std::vector<Task>& tasks, std::size_t scenarios, const CampaignOptions& options)
    : shares_(scenarios) {
  std::vector<std::size_t> stories, crash_points;
  std::vector<std::vector<std::size_t>> others(scenarios);
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    if (tasks[i].kind == kStoryKind)
      stories.push_back(i);
    else if (tasks[i].kind == kCrashPointKind && options.budget == 0)
      crash_points.push_back(i);
    else
      others[static_cast<std::size_t>(tasks[i].scenario)].push_back(i);
  }
  append(certain_, gather_batches(tasks, stories, kBranches));
  append(certain_, gather_batches(tasks, crash_points, kBranches));
  for (Batch& batch : certain_) batch.to_the_end = true;
  for (std::size_t i = 0; i < scenarios; ++i)
    shares_[i].batches = gather_batches(tasks, others[i], kBranches);
}

std::optional<Batch> Turns::take(TimeLeft left) {
  const bool for_crash_points = left == TimeLeft::kForAll || left == TimeLeft::kForCrashPoints;
  const bool for_others = left == TimeLeft::kForAll || left == TimeLeft::kForOthers;
  std::deque<Batch>* from = nullptr;
  if (!again_.empty()) {
    from = &again_;
  } else if (!certain_.empty() &&
             (for_crash_points || certain_.front().common.kind == kStoryKind)) {
    from = &certain_;
  } else {
    const auto next = std::ranges::min_element(shares_, {}, [](const Share& share) {
      return std::pair(share.batches.empty(), share.taken);
    });
    if (!for_others || next == shares_.end() || next->batches.empty()) return std::nullopt;
    from = &next->batches;
  }
  Batch batch = std::move(from->front());
  from->pop_front();
  return batch;
}

void Turns::add_time(int scenario, std::chrono::nanoseconds taken) {
  shares_[static_cast<std::size_t>(scenario)].taken += taken;
}

}  // namespace berth::explore
