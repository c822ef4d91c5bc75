// SPDX-License-Identifier: Apache-2.0
// ActorQueue: the objects that an actor must still process, each at most once. Level-triggered: a
// change wakes the key, and the step uses the state at its own time. If the key is already waiting,
// the earlier of the two times counts.
#pragma once

#include <chrono>
#include <functional>
#include <map>

#include "controller/sim/kube/simulation.h"
#include "controller/sim/world/random.h"
#include "controller/sim/world/store.h"

namespace berth::sim {

class ActorQueue {
 public:
  using Span = std::chrono::nanoseconds;

  // `lag`: time from a change to the step, plus or minus half of it.
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
