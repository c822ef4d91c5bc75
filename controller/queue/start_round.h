// SPDX-License-Identifier: Apache-2.0
// StartRound: the plays from which ranges are made (start_estimates.h): in each the queues are
// projected once (start_projection.h). All of them take longer on a large cluster than a loop may
// wait, so a round may be gone on with when the index has changed: it holds nothing of the index,
// and tells nothing of what has not waited all the time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "controller/queue/run_shares.h"
#include "controller/queue/start_projection.h"

namespace berth::queue {

// What it says that it runs at most, in microseconds; nothing: it says nothing.
std::optional<std::int64_t> declared_time(const Workload& workload);

// How long each runs in a play.
using RunTimes = std::function<RunTime(std::uint64_t play)>;
// Each takes a part of what it has declared, as one of those before it did. As long as the shares
// stand.
RunTimes as_others_did(const RunShares& shares);

// How much is played.
struct PlayLimits {
  static constexpr std::size_t kWhole = std::numeric_limits<std::size_t>::max();
  std::size_t tries = 0;      // in each play, at the most
  std::size_t work = kWhole;  // at once: in tries, and what takes as long
};

class StartRound {
 public:
  // A prime: each workload goes through all parts of what others took, one after the other, and no
  // two in the same order.
  static constexpr std::uint64_t kPlays = 31;

  // What a play takes before its first try.
  static std::size_t work_to_begin(const FactsIndex& index);

  // Plays on until the round is whole, or as long as another play like the longest so far doesn't
  // exceed the work; but one in any case. Says how much work that was.
  std::size_t play(const FactsIndex& index, const Arrivals& arrivals, const RunTimes& run_times,
                   std::int64_t now, const PlayLimits& limits);
  bool is_whole() const;

  // When it began, of the plays in which it did. Null: it was not ready all the time.
  const std::vector<std::int64_t>* starts_of(const Workload& workload) const;
  // No play looked further; nothing: each as far as anything is said to end.
  std::optional<std::int64_t> looked_until() const { return looked_until_; }
  // Of the first play, by name.
  const std::vector<std::string>& endless() const { return endless_; }

 private:
  struct Waiting {
    std::int64_t created = 0;  // another one may come under its name
    std::uint64_t turns = 1;
    std::vector<std::int64_t> starts;
  };
  void note_waiting(const FactsIndex& index);
  void note(const Projection& projection);

  std::uint64_t played_ = 0;
  std::uint64_t turns_ = 0;  // in which it was played
  std::size_t longest_ = 0;  // of the plays, in work
  bool some_begin_ = false;
  std::unordered_map<std::string, Waiting> waiting_;  // since the first turn, by name
  std::vector<std::string> endless_;
  std::optional<std::int64_t> looked_until_;
};

}  // namespace berth::queue
