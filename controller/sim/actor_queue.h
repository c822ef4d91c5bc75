// SPDX-License-Identifier: Apache-2.0
// ActorQueue: what an actor still has to look at, each object at most once. Level-triggered:
// whoever notices a change wakes the key, and the step looks at what then stands. A key that waits
// already is looked at at the earlier of both times.
#pragma once

#include <chrono>
#include <functional>
#include <map>

#include "controller/sim/random.h"
#include "controller/sim/simulation.h"
#include "controller/sim/store.h"

namespace berth::sim {

class ActorQueue {
 public:
  using Span = std::chrono::nanoseconds;

  // `lag`: how long after a change the step is taken, give or take a half of it.
  ActorQueue(Simulation& simulation, Span lag, std::function<void(const StoreKey&)> step);
  ~ActorQueue();
  ActorQueue(const ActorQueue&) = delete;
  ActorQueue& operator=(const ActorQueue&) = delete;

  void wake(const StoreKey& key);
  void wake(const StoreKey& key, Span after);

 private:
  struct Due {
    MonotonicTime at;
    Loop::TimerId timer;
  };

  Simulation& simulation_;
  Random random_;
  const Span lag_;
  const std::function<void(const StoreKey&)> step_;
  std::map<StoreKey, Due> due_;
};

}  // namespace berth::sim
