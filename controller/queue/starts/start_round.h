// SPDX-License-Identifier: Apache-2.0
// StartRound: the plays from which ranges are made (start_estimates.h). Each play projects the
// queues once (start_projection.h). On a large cluster all plays take longer than the loop may
// block. So a round can continue after the index has changed: it keeps no reference to the index,
// and gives no result for workloads that have not waited all the time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "controller/queue/starts/run_shares.h"
#include "controller/queue/starts/start_projection.h"

namespace berth::queue {

// Returns the declared longest run time in microseconds; nothing if none is declared.
std::optional<std::int64_t> declared_time(const Workload& workload);

// The run times of all workloads in a play.
using RunTimes = std::function<RunTime(std::uint64_t play)>;
// Each workload takes a part of its declared time, as a finished one did. `shares` must outlive the
// result.
RunTimes as_others_did(const RunShares& shares);

// Limits of the work in plays.
struct PlayLimits {
  static constexpr std::size_t kWhole = std::numeric_limits<std::size_t>::max();
  std::size_t tries = 0;      // in each play, at most
  std::size_t work = kWhole;  // in one turn: tries, and work that takes as long
};

class StartRound {
 public:
  // A prime number. So over the plays each workload takes every one of the equal parts of the
  // distribution once, and no two workloads in the same order.
  static constexpr std::uint64_t kPlays = 31;

  // Returns the work of a play before its first try.
  static std::size_t work_to_begin(const FactsIndex& index);

  // Plays until the round is whole, or until another play as long as the longest so far would
  // exceed limits.work. It plays at least once. Returns the work done.
  std::size_t play(const FactsIndex& index, const Arrivals& arrivals, const RunTimes& run_times,
                   std::int64_t now, const PlayLimits& limits);
  bool is_whole() const;

  // Returns its starts in the plays in which it started. Null: it was not ready all the time.
  const std::vector<std::int64_t>* starts_of(const Workload& workload) const;
  // The time beyond which no play looked; absent: every play looked up to the last known end.
  std::optional<std::int64_t> looked_until() const { return looked_until_; }
  // From the first play, by name.
  const std::vector<std::string>& endless() const { return endless_; }

 private:
  struct Waiting {
    std::int64_t created = 0;  // another workload may get its name
    std::uint64_t turns = 1;
    std::vector<std::int64_t> starts;
  };
  void note_waiting(const FactsIndex& index);
  void note(const Projection& projection);

  std::uint64_t played_ = 0;
  std::uint64_t turns_ = 0;  // turns in which the round was played
  std::size_t longest_ = 0;  // of the plays, in work
  bool some_begin_ = false;
  std::unordered_map<std::string, Waiting> waiting_;  // waiting since the first turn, by name
  std::vector<std::string> endless_;
  std::optional<std::int64_t> looked_until_;
};

}  // namespace berth::queue
