// SPDX-License-Identifier: Apache-2.0
// Bundle: the same edits of a pod, and the nodes that would take it after them.
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

// Those that suffice first, then the fewer places the better; among smaller counts the greatest
// first.
std::vector<Bundle> bundles_of(const ClusterState& cluster, const Fit& fit, const Pod& pod,
                               const std::vector<NodeGroup>& groups);

// "tolerate the taint, and ask for less; then n1 would take it".
std::string told(const Bundle& bundle);
// What to write into the pod, a line for each place.
std::string lines_of(const NodeEdits& edits, const Pod& pod);

}  // namespace berth
