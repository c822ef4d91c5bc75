// SPDX-License-Identifier: Apache-2.0
// remedies_for: what would get a pending pod onto a node, sufficient remedies first. It tries
// changes of the pod on the cluster: first one field, then several together.
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
  // By what keeps the pod off the nodes.
  std::vector<NodeGroup> groups = group_nodes(snapshot, fit, pod, clues);
  std::vector<Text> offered_nowhere;  // requested GPU resources that no node offers
};

std::vector<Explanation::Remedy> remedies_for(const WaitingPod& waiting);

}  // namespace berth
