// SPDX-License-Identifier: Apache-2.0
// NodeView: where a node stands in the rollout of the layout that owns it.
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
  std::size_t place = 0;                 // in the owner's order, from 1; 0: not in it
  std::size_t queue = 0;                 // how many are in that
  std::vector<PodVerdict> stuck;         // pods that may not go

  bool differs() const { return standing && standing->bucket != NodeBucket::kUpdated; }
  // Its GPUs will be cut anew, and its pods still have to go.
  bool to_be_drained() const {
    return standing && (standing->phase == "Waiting" || standing->phase == "Cordoned" ||
                        standing->phase == "Draining");
  }
};

}  // namespace berth
