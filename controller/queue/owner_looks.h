// SPDX-License-Identifier: Apache-2.0
// OwnerLooks: the live reads of controllers that stand before the eviction of their pods
// (owner_kinds.h). One read serves all pods of a controller that have the same role. Its answer
// counts as long as that of a dry-run eviction; right before the evictions it is read again.
#pragma once

#include <string>
#include <vector>

#include "controller/core/plan.h"
#include "controller/core/snapshot.h"

namespace berth::queue {

struct OwnerLooks {
  const berth::Pod* kept = nullptr;  // the first whose controller would fail without it,
  std::string why;                   // as it was when it was read,
  int times = 0;                     // and how often in a row that was so
  std::vector<Guard> open;           // what was not read yet, or too long ago
  std::vector<Guard> all;            // what stands right before the evictions
};
OwnerLooks look_at_owners(const Snapshot& snapshot, const std::vector<const berth::Pod*>& pods);

// Plans each read by itself, so that the next plan knows the answers; per controller one at a time.
void plan_open_looks(const OwnerLooks& looks, Plan& plan);
// Before what follows for the object.
void guard_by_looks(const OwnerLooks& looks, const ObjectRef& object, Plan& plan);

}  // namespace berth::queue
