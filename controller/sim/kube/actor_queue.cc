// SPDX-License-Identifier: Apache-2.0
#include "controller/sim/kube/actor_queue.h"

#include <utility>

namespace berth::sim {

ActorQueue::ActorQueue(Simulation& simulation, Span lag, std::function<void(const StoreKey&)> step)
    : simulation_(simulation),
      random_(simulation.fork_random()),
      lag_(lag),
      step_(std::move(step)) {}

ActorQueue::~ActorQueue() {
  for (const auto& [key, due] : due_) simulation_.loop().cancel(due.timer);
}

void ActorQueue::wake(const StoreKey& key) {
  wake(key, random_.between(lag_ / 2, lag_ + lag_ / 2));
}

void ActorQueue::wake(const StoreKey& key, Span after) {
  const MonotonicTime at = simulation_.now() + after;
  const auto found = due_.find(key);
  if (found != due_.end()) {
    if (found->second.at <= at) return;
    simulation_.loop().cancel(found->second.timer);
  }
  const Loop::TimerId timer = simulation_.loop().call_after(after, [this, key] {
    due_.erase(key);
    step_(key);
  });
  due_[key] = {at, timer};
}

}  // namespace berth::sim
