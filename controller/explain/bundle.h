// SPDX-License-Identifier: Apache-2.0
// Bundle: a set of edits of a pod, and the nodes that would take the edited pod.
#pragma once

#include <string>
#include <vector>

#include "controller/explain/node_edits.h"
#include "controller/explain/node_groups.h"

namespace berth {

struct Bundle {
  NodeEdits edits;
  std::vector<std::string> nodes;
};

// Bundles that suffice come first, then those with fewer edits. Among reduced GPU counts, the
// largest comes first.
std::vector<Bundle> bundles_of(const ClusterState& cluster, const Fit& fit, const Pod& pod,
                               const std::vector<NodeGroup>& groups);

// "tolerate the taint, and ask for less; then n1 would take it".
std::string told(const Bundle& bundle);
// The lines to write into the pod, one for each edit.
std::string lines_of(const NodeEdits& edits, const Pod& pod);

}  // namespace berth
