// SPDX-License-Identifier: Apache-2.0
// StartEstimates: the expected start times of waiting workloads, as a range. Jobs declare how long
// they run at most (activeDeadlineSeconds). Finished Jobs of the same namespace show which part of
// that a Job takes. So berth plays the queues several times (start_round.h). In each play a
// workload takes such a part of its declared time, and new workloads arrive (arrivals.h). The range
// is the shortest one with kHeld of the workload's starts.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "controller/queue/cycle/quota_table.h"
#include "controller/queue/starts/start_round.h"

namespace berth::queue {

struct StartEstimate {
  // Microseconds since the epoch. Without a latest, the end is unknown or the plays looked no
  // further. Without both, nothing says when the workloads that it waits for end.
  std::optional<std::int64_t> earliest, latest;
  bool looked_no_further = false;
  // If the end is unknown: a workload that may hold what it waits for and has declared no run time,
  // and how many more there are.
  const Workload* endless = nullptr;
  std::size_t more_endless = 0;
};

class StartEstimates {
 public:
  // Tries per play: what a controller with many queues spends at least, and what a user's question
  // about one workload may spend.
  static constexpr std::size_t kFewTries = 4'000, kManyTries = 20'000;

  StartEstimates(const FactsIndex& index, const RunShares& shares, std::int64_t now,
                 std::size_t tries);
  // For callers that know more about arrivals and run times.
  StartEstimates(const FactsIndex& index, const Arrivals& arrivals, const RunTimes& run_times,
                 std::int64_t now, std::size_t tries);
  // `round` must be whole.
  StartEstimates(const FactsIndex& index, StartRound round);
  // Returns nothing if the workload is not ready, could never be admitted, or has not waited during
  // the whole round.
  std::optional<StartEstimate> find(const Workload& workload) const;

 private:
  // Workloads that hold quota and room without a known end: those of one queue, and those that a
  // queue's workloads may wait for.
  struct Holders {
    const QueueFact* queue = nullptr;
    std::vector<const Workload*> all;
  };
  struct Endless {
    const Holders* own = nullptr;
    const Workload* of_others = nullptr;
    std::size_t count = 0;
  };
  bool may_begin(const Workload& workload) const;
  const Endless& endless_for(const QueueFact* queue) const;
  Endless find_endless(const QueueFact* queue) const;
  void name_endless(const Workload& workload, StartEstimate& out) const;

  const FactsIndex& index_;
  QuotaTable quotas_;
  StartRound round_;
  std::vector<Holders> endless_;
  mutable std::map<const QueueFact*, Endless> endless_of_;  // found at the first question
};

// Rounds the range outward for users, to times that do not change while nothing happens.
StartEstimate coarse(const StartEstimate& estimate, std::int64_t now);
// Whether a published range is still good enough: it contains the new one, which is at least half
// as wide.
bool still_tells(const StartEstimate& told, const StartEstimate& now);
// Returns a sentence: "it begins between … and …, …".
std::string describe(const StartEstimate& estimate, std::int64_t now);

}  // namespace berth::queue
