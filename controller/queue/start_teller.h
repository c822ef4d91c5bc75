// SPDX-License-Identifier: Apache-2.0
// StartTeller: from when to when what waits begins, told in the statuses of the queues, once a
// minute. On a large cluster a round of plays (start_round.h) is spread over as many reconciles, a
// second apart, so that none of them holds up the loop: what those before have played is kept in
// mind. Whoever begins without it, as after a crash, plays a round of his own.
#pragma once

#include <cstddef>
#include <optional>

#include "controller/core/plan.h"
#include "controller/core/snapshot.h"
#include "controller/queue/start_round.h"

namespace berth {

class StartTeller {
 public:
  // At once, in tries of about 2.5 µs (queue_estimates_bench).
  static constexpr std::size_t kWorkOfTurn = 20'000;
  // One play may take it up, and looks as far as it gets by that.
  static queue::PlayLimits limits_of_turn(const queue::FactsIndex& facts);

  Plan reconcile(const Snapshot& snapshot);

 private:
  bool has_passed(Duration time, Time now) const;
  Duration until_next(Time now) const;

  std::optional<queue::StartRound> round_;  // that is being played
  std::optional<Time> looked_;              // when it, or the one before, was begun
};

}  // namespace berth
