// SPDX-License-Identifier: Apache-2.0
// NodeView: a node's state in the rollout of the layout that owns it.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "controller/disruption/drain.h"
#include "controller/mig/rollout_choice.h"

namespace berth {

struct NodeView {
  const MIGLayout* owner = nullptr;
  std::optional<NodeStanding> standing;  // in its owner's rollout
  std::size_t place = 0;                 // position in the owner's order, from 1; 0: not in it
  std::size_t queue = 0;                 // number of nodes in that order
  std::vector<PodVerdict> stuck;         // pods that may not be evicted

  bool differs() const { return standing && standing->bucket != NodeBucket::kUpdated; }
  // Its GPUs will be repartitioned, and its pods must be evicted first.
  bool to_be_drained() const {
    return standing && (standing->phase == "Waiting" || standing->phase == "Cordoned" ||
                        standing->phase == "Draining");
  }
};

}  // namespace berth
