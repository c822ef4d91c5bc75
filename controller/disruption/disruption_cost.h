// SPDX-License-Identifier: Apache-2.0
// DisruptionCost: the cost of vacating a node, by which the cheapest goes first: no pod that must
// leave, then the pods' priority, how many pods end (a gang ends with any of its members), the work
// lost since their last checkpoints, and how many fit nowhere else.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

#include "apis/mig_layout.h"
#include "controller/core/snapshot.h"

namespace berth {

struct Disruption {
  bool pods = false;          // any pod has to leave
  std::int64_t priority = 0;  // the highest of theirs
  std::int64_t ended = 0;     // pods, counting whole gangs
  std::int64_t lost_gpu_seconds = 0;
  std::int64_t homeless = 0;  // fit on no other node as it is now; counted only to break ties
  auto operator<=>(const Disruption&) const = default;
};
// "no pod has to leave"; "2 pods have to leave, priority 0, 3h of GPU work since their
// checkpoints".
std::string describe(const Disruption& disruption);

class DisruptionCost {
 public:
  explicit DisruptionCost(const Snapshot& snapshot) : snapshot_(snapshot) {}
  // Without `homeless`, for which every pod of the cluster has to be looked at.
  Disruption of(const std::vector<Occupant>& occupants, const DrainSpec& drain) const;
  std::int64_t homeless(const Node& node, const std::vector<Occupant>& occupants,
                        const DrainSpec& drain);

 private:
  void measure_room();
  bool fits_elsewhere(const Text& resource, std::int64_t count, const Node& node) const;

  const Snapshot& snapshot_;
  // Filled on first use: most rollouts begin with nodes that nobody uses.
  bool measured_ = false;
  // Per resource the most that is free on any one node in service, and on any other than that.
  struct Room {
    Text resource;
    const Node* node = nullptr;
    std::int64_t most = 0;
    std::int64_t second = 0;
  };
  std::vector<Room> rooms_;
};

}  // namespace berth
