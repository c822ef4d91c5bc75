// SPDX-License-Identifier: Apache-2.0
// remedies_for: what would place a pod that waits, the most promising first. Changes of the pod are
// tried on the cluster: those that would place it now come before all others.
#pragma once

#include <vector>

#include "controller/core/fit.h"
#include "controller/core/snapshot.h"
#include "controller/preview/why_explanation.h"
#include "controller/preview/why_nodes.h"

namespace berth {

struct WaitingPod {
  const Snapshot& snapshot;
  const Pod& pod;
  const Fit fit{snapshot.cluster};
  std::vector<NodeGroup> groups = group_nodes(snapshot, fit, pod);  // by what keeps it off them
  std::vector<Text> offered_nowhere;  // GPU resources that it asks for and no node offers
};

std::vector<Explanation::Remedy> remedies_for(const WaitingPod& waiting);

}  // namespace berth
