// SPDX-License-Identifier: Apache-2.0
// Of those that have a choice of pools, who heads elsewhere after somebody has taken room or quota.
#include <utility>

#include "controller/queue/cycle.h"

namespace berth::queue {

// Where others would go may have changed with the room and quota that are gone now, and their
// shares with it: of those that have a choice of pools, are in the same cohort or want room that is
// short.
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

// What fitted nowhere fits nowhere still.
bool Cycle::may_turn(const Offer& offer) const {
  return offer.heading_for != nullptr && offer.fits && offer.routes.open.size() > 1;
}

void Cycle::turn(Offer& offer) {
  ++offer.edition;
  enter(offer);
}

}  // namespace berth::queue
