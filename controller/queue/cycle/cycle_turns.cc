// SPDX-License-Identifier: Apache-2.0
// Workloads with a choice of pools: which of them would now go to another pool, after an admission
// took room or quota.
#include <utility>

#include "controller/queue/cycle/cycle.h"

namespace berth::queue {

// After an admission the best pool of other workloads may change, and with it their queue's share.
// This concerns queues with several pools in the same cohort, and those that need room in a pool
// that became short.
void Cycle::look_again(const Offer& taker, const std::vector<std::pair<ShapeId, NodeId>>& nodes) {
  if (several_pools_.empty()) return;
  look_again_on(nodes);
  const auto peers = of_cohort_.find(taker.queue->fact->cohort);
  if (peers != of_cohort_.end()) {
    for (Offer* offer : peers->second) {
      if (may_turn(*offer) && !has_quota(*offer, *offer->heading_for)) turn(*offer);
    }
  }
  for (PoolId pool = 0; pool < index_.catalog().pools(); ++pool) {
    if (!room_.is_short(pool)) continue;
    room_.unwatch(pool);
    for (Offer* offer : several_pools_) {
      if (!may_turn(*offer) || offer->heading_for->pool != pool) continue;
      if (!fits(*offer, *offer->heading_for)) turn(*offer);
      if (offer->fits && offer->heading_for->pool == pool)
        room_.watch(wanted(*offer, *offer->heading_for));
    }
  }
}

void Cycle::look_again_on(const std::vector<std::pair<ShapeId, NodeId>>& nodes) {
  for (const auto& [shape, node] : nodes) {
    if (node >= on_node_.size()) continue;
    for (const auto& [offer, edition] : std::exchange(on_node_[node], {})) {
      if (offer->edition != edition || !may_turn(*offer)) continue;
      if (fits(*offer, *offer->heading_for))
        watch(*offer);
      else
        turn(*offer);
    }
  }
}

// A workload that fitted nowhere still fits nowhere.
bool Cycle::may_turn(const Offer& offer) const {
  return offer.heading_for != nullptr && offer.fits && offer.routes.open.size() > 1;
}

void Cycle::turn(Offer& offer) {
  ++offer.edition;
  enter(offer);
}

}  // namespace berth::queue
