// SPDX-License-Identifier: Apache-2.0
// OwnerLooks: live reads of controllers before the eviction of their pods (owner_kinds.h). One read
// serves all pods of a controller with the same role. Its answer is valid as long as that of a
// dry-run eviction. Right before the evictions berth reads again.
#pragma once

#include <string>
#include <vector>

#include "controller/core/plan.h"
#include "controller/core/snapshot.h"

namespace berth::queue {

struct OwnerLooks {
  const berth::Pod* kept = nullptr;  // the first pod whose controller would fail without it
  std::string why;                   // the reason, at the last read
  int times = 0;                     // how often in a row the answer was this
  std::vector<Guard> open;           // not read yet, or too long ago
  std::vector<Guard> all;            // reads right before the evictions
};
OwnerLooks look_at_owners(const Snapshot& snapshot, const std::vector<const berth::Pod*>& pods);

// Plans each open read as a step of its own, so that the next plan knows the answer. It plans one
// read per controller at a time.
void plan_open_looks(const OwnerLooks& looks, Plan& plan);
// Adds the reads before the steps that follow for the object.
void guard_by_looks(const OwnerLooks& looks, const ObjectRef& object, Plan& plan);

}  // namespace berth::queue
