// SPDX-License-Identifier: Apache-2.0
// DisruptionCost: the cost of draining a node, so that the cheapest goes first. In this order:
// whether pods must leave; the pods' priority; how many pods end (a gang ends with any of its
// members); the work lost since their last checkpoints; how many pods fit nowhere else.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

#include "apis/kinds/mig_layout.h"
#include "controller/core/snapshot.h"

namespace berth {

struct Disruption {
  bool pods = false;          // any pod has to leave
  std::int64_t priority = 0;  // the highest of these pods
  std::int64_t ended = 0;     // pods, counting whole gangs
  std::int64_t lost_gpu_seconds = 0;
  std::int64_t homeless = 0;  // pods that fit on no other node now; counted only to break ties
  auto operator<=>(const Disruption&) const = default;
};
// Returns "no pod has to leave", or the number of pods that end, their highest priority, and the
// GPU work since their checkpoints.
std::string describe(const Disruption& disruption);

class DisruptionCost {
 public:
  explicit DisruptionCost(const Snapshot& snapshot) : snapshot_(snapshot) {}
  // Leaves out `homeless`, which needs a look at every pod of the cluster.
  Disruption of(const std::vector<Occupant>& occupants, const DrainSpec& drain) const;
  std::int64_t homeless(const Node& node, const std::vector<Occupant>& occupants,
                        const DrainSpec& drain);

 private:
  void measure_room();
  bool fits_elsewhere(const Text& resource, std::int64_t count, const Node& node) const;

  const Snapshot& snapshot_;
  // Filled at first use, because most rollouts begin with unused nodes.
  bool measured_ = false;
  // By resource, the most that is free on any node in service, and on any other node.
  struct Room {
    Text resource;
    const Node* node = nullptr;
    std::int64_t most = 0;
    std::int64_t second = 0;
  };
  std::vector<Room> rooms_;
};

}  // namespace berth
