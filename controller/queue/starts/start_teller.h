// SPDX-License-Identifier: Apache-2.0
// StartTeller: writes the expected start times of waiting workloads into the queues' statuses, once
// a minute. On a large cluster a round of plays (start_round.h) is spread over several reconciles,
// a second apart, so that none blocks the loop for long. The object keeps the plays so far. After a
// restart, a new object starts a new round.
#pragma once

#include <cstddef>
#include <optional>

#include "controller/core/plan.h"
#include "controller/core/snapshot.h"
#include "controller/queue/starts/start_round.h"

namespace berth::queue {

class StartTeller {
 public:
  // Tries per turn. A try takes about 2.5 µs (queue_estimates_bench).
  static constexpr std::size_t kWorkOfTurn = 20'000;
  // One play may use up the turn, and then looks only as far as it gets.
  static PlayLimits limits_of_turn(const FactsIndex& facts);

  Plan reconcile(const Snapshot& snapshot);

 private:
  bool has_passed(Duration time, Time now) const;
  Duration until_next(Time now) const;

  std::optional<StartRound> round_;  // the round in progress
  std::optional<Time> looked_;       // when it, or the last one, began
};

}  // namespace berth::queue
