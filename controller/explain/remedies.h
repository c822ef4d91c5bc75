// SPDX-License-Identifier: Apache-2.0
// remedies_for: what would place a pod that waits, those that suffice before all others. Changes of
// the pod are tried on the cluster: one place of it first, then several together.
#pragma once

#include <vector>

#include "controller/core/snapshot.h"
#include "controller/explain/explanation.h"
#include "controller/explain/node_groups.h"
#include "controller/fleet/fit.h"

namespace berth {

struct WaitingPod {
  const Snapshot& snapshot;
  const Pod& pod;
  const Clues& clues;
  const Fit& fit;
  // By what keeps it off them.
  std::vector<NodeGroup> groups = group_nodes(snapshot, fit, pod, clues);
  std::vector<Text> offered_nowhere;  // GPU resources that it asks for and no node offers
};

std::vector<Explanation::Remedy> remedies_for(const WaitingPod& waiting);

}  // namespace berth
