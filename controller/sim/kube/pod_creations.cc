// SPDX-License-Identifier: Apache-2.0
#include "controller/sim/kube/pod_creations.h"

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <utility>

namespace berth::sim {
namespace {

using namespace std::chrono_literals;

// The per-key backoff of client-go.
std::chrono::nanoseconds backoff(int rounds) {
  constexpr int kDoublings = 18;
  return std::min<std::chrono::nanoseconds>(1000s, 5ms * (1 << std::min(rounds - 1, kDoublings)));
}

}  // namespace

void PodCreations::create(const StoreKey& owner, nlohmann::json pod) {
  ++owners_[owner].under_way;
  const MonotonicTime asked = simulation_.now();
  client_.submit("pods", std::move(pod), [this, owner, asked](const WriteReply& reply) {
    hear(owner, reply.ok(), simulation_.now() > asked);
  });
}

bool PodCreations::under_way(const StoreKey& owner) const {
  const auto found = owners_.find(owner);
  return found != owners_.end() && found->second.under_way > 0;
}

void PodCreations::hear(const StoreKey& key, bool ok, bool held) {
  Owner& owner = owners_[key];
  owner.refused = owner.refused || !ok;
  if (--owner.under_way > 0) return;
  if (!std::exchange(owner.refused, false)) {
    owners_.erase(key);
    if (held) queue_.wake(key, 0ns);
  } else {
    queue_.wake(key, backoff(++owner.rounds_refused));
  }
}

}  // namespace berth::sim
