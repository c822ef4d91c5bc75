// SPDX-License-Identifier: Apache-2.0
// NodeGroups: a cluster's nodes, grouped by what keeps one pod off them. Each node is in one group,
// that of its deciding obstacle.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "controller/core/snapshot.h"
#include "controller/dump/clues.h"
#include "controller/explain/node_fate.h"
#include "controller/fleet/fit.h"
#include "controller/fleet/pools.h"

namespace berth {

struct NodeGroup {
  NodeFate fate = NodeFate::kFits;
  std::string words;               // what keeps the pod off these nodes
  std::vector<std::string> nodes;  // by name
  std::vector<std::string> only;   // nodes without any other obstacle
  std::set<Fit::Verdict> besides;  // further obstacles of the other nodes
  const PoolSpec* pool = nullptr;  // kNotEligible
  // For kNotSelected, and for kNotEligible if the pod selects other nodes anyway: the requested
  // labels, and these nodes' labels.
  std::string unmet, offered;
};

// Sorted by fate, then by number of nodes, largest first.
std::vector<NodeGroup> group_nodes(const Snapshot& snapshot, const Fit& fit, const Pod& pod,
                                   const Clues& clues);

// Whether the account sees all pods on the nodes that could take the pod. It does not see other
// namespaces' pods without the right, nor pods on nodes without GPUs.
bool knows_room(const Clues& clues, const Pod& pod);

// Whether Kubernetes itself sets the taint; pods should not tolerate it to get a node.
bool is_kubernetes_own(const Taint& taint);

}  // namespace berth
